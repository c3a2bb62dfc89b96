import LibFuzzer

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
