import LibFuzzer

@testable import SignetHTTPServer

/// The parts of an input: an endpoint line, header fields, an empty line, and a body.
///
/// The line has the ID of an endpoint, a value for its path, and a query.
struct RequestParts {
  let endpoint: String
  /// The value of the path's parameters.
  let value: String
  /// The request with path, query, header fields and body, as the server would have parsed them.
  let request: ServerRequest

  init(_ input: [UInt8]) {
    var lines = InputLines(input)
    let words = (lines.line() ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    endpoint = words.first ?? ""
    value = Self.segment(words.count > 1 ? words[1] : "")
    var headers: HeaderFields = [:]
    for (name, value) in lines.fields() {
      let field = HeaderFields.Field(name: name, value: value)
      if field.isValid { headers.add(name: field.name, value: field.value) }
    }
    request = ServerRequest(
      method: "POST", path: Self.root, query: Self.query(words.count > 2 ? words[2] : ""), headers: headers,
      body: Array(lines.rest))
  }

  /// Returns the value as one path segment; a fixed word if it is none.
  private static func segment(_ raw: String) -> String {
    do throws(RequestRefusal) {
      let segments = try RequestPath(raw: "/\(raw)").segments
      return segments.count == 1 && !segments[0].isEmpty ? raw : "none"
    } catch { return "none" }
  }

  private static let root = path("/")

  /// Parses a path that must be valid.
  static func path(_ raw: String) -> RequestPath {
    do throws(RequestRefusal) { return try RequestPath(raw: raw) } catch {
      preconditionFailure("\(raw) is a path")
    }
  }

  private static func query(_ raw: String) -> QueryParameters {
    do throws(RequestRefusal) { return try QueryParameters(raw: raw) } catch { return QueryParameters() }
  }
}
