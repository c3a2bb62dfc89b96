@testable import SignetHTTP

/// The parts of an input: a line with the id of an endpoint, the value of what its path names, and a query; header fields; an
/// empty line; a body.
struct RequestParts {
  let endpoint: String
  /// What stands in the path for its parameters.
  let value: String
  /// With a path, a query, header fields and a body, all as the server would have read them.
  let request: ServerRequest

  init(_ input: [UInt8]) {
    var rest = input[...]
    func line() -> String? {
      guard !rest.isEmpty else { return nil }
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      let line = String(decoding: rest[..<end], as: UTF8.self)
      rest = rest[end...].dropFirst()
      return line
    }
    let words = (line() ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    endpoint = words.first ?? ""
    value = Self.segment(words.count > 1 ? words[1] : "")
    var headers: HeaderFields = [:]
    while let field = line(), !field.isEmpty {
      let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let read = HeaderFields.Field(
        name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
      if read.isValid { headers.add(name: read.name, value: read.value) }
    }
    request = ServerRequest(
      method: "POST", path: Self.root, query: Self.query(words.count > 2 ? words[2] : ""), headers: headers,
      body: Array(rest))
  }

  /// The one segment that a value is; a word where it is none.
  private static func segment(_ raw: String) -> String {
    do throws(RequestRefusal) {
      let segments = try RequestPath(raw: "/\(raw)").segments
      return segments.count == 1 && !segments[0].isEmpty ? raw : "none"
    } catch { return "none" }
  }

  private static let root = path("/")

  /// A path that is one.
  static func path(_ raw: String) -> RequestPath {
    do throws(RequestRefusal) { return try RequestPath(raw: raw) } catch {
      preconditionFailure("\(raw) is a path")
    }
  }

  private static func query(_ raw: String) -> QueryParameters {
    do throws(RequestRefusal) { return try QueryParameters(raw: raw) } catch { return QueryParameters() }
  }
}
