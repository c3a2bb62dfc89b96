import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal
import SignetWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Terminal {
  /// Prints a JSON document for programs, indented so that people can read it too.
  func print(_ object: JSONObject) { print(json: object.text(.pretty)) }

  /// Prints a list.
  ///
  /// - Parameters:
  ///   - columns: The titles of its columns.
  ///   - rows: A cell for each column.
  func print(_ columns: [TextTable.Column], _ rows: [[String]]) {
    var table = TextTable(columns)
    for row in rows { table.append(row) }
    print(table)
  }

  /// Prints names of ours and values of anybody in two columns.
  ///
  /// - Parameters:
  ///   - fields: Names and values.
  ///   - copied: The names of those whose values were made to be copied, by this program or its server: they are not broken.
  func print(fields: [(String, String)], copying copied: Set<String> = []) {
    let width = fields.map { TerminalText.width($0.0) }.max() ?? 0
    for (name, value) in fields {
      let padding = String(repeating: " ", count: width - TerminalText.width(name) + 2)
      let shown = copied.contains(name) ? TerminalText(copied: value) : TerminalText(value)
      print("\(styled("\(ours: name)", .bold))\(ours: padding)\(shown)")
    }
  }
}

/// A time as people read it: `2026-11-21T09:30:00Z`.
func utc(_ seconds: Int64) -> String {
  Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
}

extension JSONObject {
  /// The lists of several pages as one document, without what else the pages have.
  init(joining pages: [JSONObject]) {
    self.init()
    for case (let name, .array(let elements)) in pages.flatMap(\.members) {
      var joined: [JSONValue] = []
      if case .array(let before)? = self[name] { joined = before }
      self[name] = nil  // `joined` is the one owner: nothing is copied
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
  ///   - input: What is sent.
  ///   - show: Prints the answer for people.
  /// - Returns: Success.
  /// - Throws: As `OperatorClient.send` does.
  func ask<Input, Output>(
    _ endpoint: Endpoint<APIKeyRecord, Input, Output>, _ input: Input, _ show: (Output) throws -> Void
  ) async throws -> ExitCode {
    try await self.show(OperatorClient(self, for: endpoint).send(endpoint, input), show)
  }

  /// Calls an endpoint that takes nothing, and prints its answer.
  ///
  /// - Throws: As `OperatorClient.send` does.
  func ask<Output>(
    _ endpoint: Endpoint<APIKeyRecord, Void, Output>, _ show: (Output) throws -> Void
  ) async throws -> ExitCode {
    try await ask(endpoint, (), show)
  }

  /// Calls an endpoint for one page after the other, and prints all of them as one list.
  ///
  /// - Parameters:
  ///   - endpoint: Lists something.
  ///   - limit: How many elements are wanted at most.
  ///   - pageSize: How many a page has at most.
  ///   - query: Makes what is sent for so many elements after a page, or from the start.
  ///   - elements: The elements of a page: where they are fewer than were asked for, it is the last one.
  ///   - show: Prints the elements for people.
  /// - Returns: Success.
  /// - Throws: As `OperatorClient.send` does.
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

  /// Prints an answer: with `--json` as it came, or else for people.
  @discardableResult
  func show<Output>(_ answer: Answer<Output>, _ show: (Output) throws -> Void) rethrows -> ExitCode {
    if isSet("json") { output.print(answer.json) } else { try show(answer.message) }
    return .success
  }

  /// What an option or operand says, read as the server reads it.
  ///
  /// - Throws: `CommandFailure`, as of a server that refuses it.
  func value<Value: Shaped>(_ name: String) throws -> Value {
    do { return try Value.shape.read(.string(string(name)), name) } catch {
      throw CommandFailure(Problem(reading: error))
    }
  }

  /// What an option or operand says, read as the server reads it; `nil` if it was not given.
  ///
  /// - Throws: As ``value(_:)`` does.
  func optionalValue<Value: Shaped>(_ name: String) throws -> Value? {
    try optionalString(name) == nil ? nil : value(name)
  }
}
