import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Terminal {
  /// Prints a JSON document, indented for readability.
  func print(_ object: JSONObject) { print(json: object.text(.pretty)) }

  /// Prints a table.
  ///
  /// - Parameters:
  ///   - columns: The titles of its columns.
  ///   - rows: One cell for each column.
  func print(_ columns: [TextTable.Column], _ rows: [[String]]) {
    var table = TextTable(columns)
    for row in rows { table.append(row) }
    print(table)
  }

  /// Prints names and untrusted values in two columns.
  ///
  /// - Parameters:
  ///   - fields: Names and values.
  ///   - copied: The names of values for copying, made by this program or its server: they are not wrapped.
  func print(fields: [(String, String)], copying copied: Set<String> = []) {
    let width = fields.map { TerminalText.width($0.0) }.max() ?? 0
    for (name, value) in fields {
      let padding = String(repeating: " ", count: width - TerminalText.width(name) + 2)
      let shown = copied.contains(name) ? TerminalText(copied: value) : TerminalText(value)
      print("\(styled("\(ours: name)", .bold))\(ours: padding)\(shown)")
    }
  }
}

/// Formats a time in UTC: `2026-11-21T09:30:00Z`.
func utc(_ seconds: Int64) -> String {
  Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
}

extension JSONObject {
  /// Joins the lists of several pages into one document; other members of the pages are dropped.
  init(joining pages: [JSONObject]) {
    self.init()
    for case (let name, .array(let elements)) in pages.flatMap(\.members) {
      var joined: [JSONValue] = []
      if case .array(let before)? = self[name] { joined = before }
      self[name] = nil  // `joined` is the only owner: no copy is made
      joined += elements
      self[name] = .array(joined)
    }
  }
}

extension Arguments {
  /// Calls an endpoint, and prints its answer.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint; parameters of its path are arguments of the command.
  ///   - input: The input.
  ///   - show: Prints the answer for users.
  /// - Returns: Success.
  /// - Throws: The errors of `OperatorClient.send`.
  func ask<Input, Output>(
    _ endpoint: Endpoint<APIKeyRecord, Input, Output>, _ input: Input, _ show: (Output) throws -> Void
  ) async throws -> ExitCode {
    try await self.show(OperatorClient(self, for: endpoint).send(endpoint, input), show)
  }

  /// Calls an endpoint without input, and prints its answer.
  ///
  /// - Throws: The errors of `OperatorClient.send`.
  func ask<Output>(
    _ endpoint: Endpoint<APIKeyRecord, Void, Output>, _ show: (Output) throws -> Void
  ) async throws -> ExitCode {
    try await ask(endpoint, (), show)
  }

  /// Calls an endpoint page by page, and prints all pages as one list.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint that lists elements.
  ///   - limit: The maximum number of elements.
  ///   - pageSize: The maximum number of elements per page.
  ///   - query: Returns the input for `count` elements after a page, or from the start.
  ///   - elements: Returns the elements of a page: fewer than requested mark the last page.
  ///   - show: Prints the elements for users.
  /// - Returns: Success.
  /// - Throws: The errors of `OperatorClient.send`.
  func askPages<Input, Page, Element>(
    _ endpoint: Endpoint<APIKeyRecord, Input, Page>, limit: Int = .max, pageSize: Int,
    query: (_ last: Page?, _ count: Int64) throws -> Input, elements: (Page) -> [Element],
    show: ([Element]) throws -> Void
  ) async throws -> ExitCode {
    let client = try OperatorClient(self, for: endpoint)
    var (pages, found): ([Answer<Page>], [Element]) = ([], [])
    while found.count < limit {
      let count = min(pageSize, limit - found.count)
      let page = try await client.send(endpoint, query(pages.last?.message, Int64(count)))
      pages.append(page)
      let new = elements(page.message)
      found += new
      if new.count < count { break }
    }
    if isSet("json") { output.print(JSONObject(joining: pages.map(\.json))) } else { try show(found) }
    return .success
  }

  /// Prints an answer: as received with `--json`, otherwise for users.
  @discardableResult
  func show<Output>(_ answer: Answer<Output>, _ show: (Output) throws -> Void) rethrows -> ExitCode {
    if isSet("json") { output.print(answer.json) } else { try show(answer.message) }
    return .success
  }

  /// Parses an option or operand with the server's own rules.
  ///
  /// - Throws: `CommandFailure`, the same as for a server's refusal.
  func value<Value: Shaped>(_ name: String) throws -> Value {
    do { return try Value.shape.read(.string(string(name)), name) } catch {
      throw CommandFailure(Problem(reading: error))
    }
  }

  /// Parses an option or operand with the server's own rules; `nil` if it was not given.
  ///
  /// - Throws: The errors of ``value(_:)``.
  func optionalValue<Value: Shaped>(_ name: String) throws -> Value? {
    try optionalString(name) == nil ? nil : value(name)
  }
}
