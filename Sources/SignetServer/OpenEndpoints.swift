/// The endpoints that strangers can have answered with success, as often as they like.
package struct OpenEndpoints: Sendable {
  /// Below the server's domain; where a body or a signature in it says who asks, it is none of these.
  package static let paths = [
    "/v1/live", "/v1/ready", "/v1/openapi.json", "/v1/jwks", "/v1/activation/start",
    "/.well-known/openid-configuration",
  ]
  /// Below the prefix of UAF, which says within an answer of status 200 that it refuses.
  package static let uafPaths =
    ["/uaf/1.1/facets", "/status", "/get", "/respond"]
    + ["", "/"].flatMap { end in
      ["registration", "authentication", "deregistration"].map { "/uaf/1.1/request/\($0)\(end)" }
        + ["registration", "authentication"].map { "/uaf/1.1/\($0)\(end)" }
    }

  private let patterns: Set<String>

  /// Those of a server.
  ///
  /// - Parameters:
  ///   - domain: What each path begins with, such as `/main`.
  ///   - uafPrefix: What those of UAF begin with; `nil` where it is not served.
  init(domain: String, uafPrefix: String?) {
    var patterns = Set(Self.paths.map { domain + $0 })
    if let uafPrefix { patterns.formUnion(Self.uafPaths.map { uafPrefix + $0 }) }
    self.patterns = patterns
  }

  /// Whether the path of an endpoint is one of them; what is answered without an endpoint, as `OPTIONS` is, is anybody's too.
  func contains(_ pattern: String?) -> Bool { pattern.map(patterns.contains) ?? true }
}
