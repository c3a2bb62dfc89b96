/// Finds the handler for a method and a path.
///
/// A segment of a pattern is a literal or a name in braces: `/{domain}/v1/otp/validate`. A name matches one segment that is
/// not empty; ``ServerRequest/parameters`` has the decoded segment. In each position a literal segment is tried before a
/// name, for any method. `HEAD` goes to the handler of `GET` unless it has its own. `OPTIONS` is answered with the methods
/// of the path (204 and `Allow`) unless it has a handler.
package struct Router: Sendable {
  private var root = Node()
  /// The method and the pattern of each route, in the order in which they were added.
  package private(set) var routes: [(method: String, pattern: String)] = []
  /// The routes of patterns without a name, by path: most requests are found here.
  private var fixed: [String: [String: Route]] = [:]
  private let refusalResponder: RefusalResponder

  /// Creates a router without routes.
  ///
  /// - Parameter refusalResponder: Makes the responses for unknown paths (404) and methods (405).
  package init(refusalResponder: @escaping RefusalResponder = { $0.plainResponse }) {
    self.refusalResponder = refusalResponder
  }

  /// Adds a route.
  ///
  /// - Parameters:
  ///   - method: The method, as in requests (`POST`); case matters.
  ///   - pattern: An absolute path pattern, not percent-encoded.
  ///   - handler: Answers the matching requests.
  /// - Precondition: The pattern starts with `/`, no name in it is empty or repeated, and the route is new.
  package mutating func on(_ method: String, _ pattern: String, _ handler: @escaping DirectHandler) {
    precondition(Token.isValid(method.utf8), "\(method) is not a method")
    precondition(pattern.first == "/", "\(pattern) does not start with a slash")
    let segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(
      Segment.init)
    let names = segments.compactMap(\.name)
    precondition(
      Set(names).count == names.count && !names.contains(""), "\(pattern) has an empty or repeated name")
    let route = Route(pattern: pattern, names: names, handler: handler)
    let isNew = root.insert(segments[...], method: method, route)
    precondition(isNew, "\(method) \(pattern) exists already")
    routes.append((method, pattern))
    if names.isEmpty, pattern.utf8.allSatisfy({ $0 != UInt8(ascii: "%") }) {
      fixed[pattern, default: [:]][method] = route
    }
  }

  /// Finds the route of a request and runs its handler.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - responder: Sends the answer.
  package func respond(to request: ServerRequest, by responder: Responder) {
    switch match(request) {
    case .route(let route, let request):
      responder.routed(by: route.pattern)
      route.handler(request, responder)
    case .answer(let response): responder.answer(response)
    }
  }

  /// A handler, its pattern, and the names of the captured segments, in order.
  package struct Route: Sendable {
    package let pattern: String
    fileprivate let names: [String]
    fileprivate let handler: DirectHandler
  }

  package enum Match {
    /// A route, and the request with its captured parameters.
    case route(Route, ServerRequest)
    /// An answer that needs no route.
    case answer(ServerResponse)
  }

  package func match(_ request: ServerRequest) -> Match {
    if let route = fixed[request.path.raw]?[request.method] { return .route(route, request) }
    var captured: [String] = []
    // OPTIONS only; see RequestPath.
    if request.path.raw == "*" { return .answer(ServerResponse(status: 204)) }
    guard let routes = root.routes(for: request.path.segments[...], &captured) else {
      return .answer(RequestRefusal.notFound.response(by: refusalResponder))
    }
    guard let route = routes[request.method] ?? (request.method == "HEAD" ? routes["GET"] : nil) else {
      let allowed = Self.allowed(routes)
      guard request.method == "OPTIONS" else {
        return .answer(RequestRefusal.methodNotAllowed(allowed: allowed).response(by: refusalResponder))
      }
      return .answer(ServerResponse(status: 204, headers: ["Allow": allowed.joined(separator: ", ")]))
    }
    guard !route.names.isEmpty else { return .route(route, request) }
    var request = request
    request.parameters = Dictionary(zip(route.names, captured)) { first, _ in first }
    return .route(route, request)
  }

  private static func allowed(_ routes: [String: Route]) -> [String] {
    var methods = Set(routes.keys).union(["OPTIONS"])
    if methods.contains("GET") { methods.insert("HEAD") }
    return methods.sorted()
  }
}

private enum Segment {
  case literal(String)
  case name(String)

  init(_ text: Substring) {
    if text.hasPrefix("{"), text.hasSuffix("}") {
      self = .name(String(text.dropFirst().dropLast()))
    } else {
      self = .literal(String(text))
    }
  }

  var name: String? {
    if case .name(let name) = self { name } else { nil }
  }
}

/// A position in a path, with the routes that end there.
private struct Node: Sendable {
  private var routes: [String: Router.Route] = [:]
  private var literals: [String: Node] = [:]
  /// At most one: the position after a name.
  private var parameterNodes: [Node] = []

  mutating func insert(_ segments: ArraySlice<Segment>, method: String, _ route: Router.Route) -> Bool {
    guard let first = segments.first else {
      guard routes[method] == nil else { return false }
      routes[method] = route
      return true
    }
    switch first {
    case .literal(let text):
      return literals[text, default: Node()].insert(segments.dropFirst(), method: method, route)
    case .name:
      if parameterNodes.isEmpty { parameterNodes.append(Node()) }
      return parameterNodes[0].insert(segments.dropFirst(), method: method, route)
    }
  }

  /// Returns the routes of a path by method; `nil` if there is none.
  ///
  /// Matched names are appended to `captured`.
  func routes(for segments: ArraySlice<String>, _ captured: inout [String]) -> [String: Router.Route]? {
    guard let first = segments.first else { return routes.isEmpty ? nil : routes }
    if let node = literals[first], let found = node.routes(for: segments.dropFirst(), &captured) {
      return found
    }
    guard let node = parameterNodes.first, !first.isEmpty else { return nil }
    captured.append(first)
    if let found = node.routes(for: segments.dropFirst(), &captured) { return found }
    captured.removeLast()
    return nil
  }
}
