import Dispatch
import Foundation
import SignetSQL
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

/// The databases of the contract.
enum Backend: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite, postgreSQL
  var testDescription: String { rawValue }

  /// The databases that this machine has.
  static let here = allCases.filter { $0 == .sqlite || PrivatePostgreSQL.isPossible }
}

/// An empty database of one test, for any number of connections.
final class SQLFixture: Sendable {
  let backend: Backend
  let location: SQLLocation
  /// The name of the database on the server; empty for a file.
  let name: String
  private let folder: TemporaryFolder?

  init(_ backend: Backend) throws {
    self.backend = backend
    switch backend {
    case .sqlite:
      let folder = try TemporaryFolder()
      self.folder = folder
      (name, location) = ("", .file(folder.file("test.sqlite")))
    case .postgreSQL:
      folder = nil
      let server = try PrivatePostgreSQL.shared()
      name = try server.makeDatabase()
      location = .server(server.address(name))
    }
  }

  static let tables = [
    SQLTable(
      "items",
      [
        .text("id").primaryKey, .integer("amount"), .real("weight").optional, .blob("content").optional,
        .text("note").optional,
      ]),
    SQLTable(
      "owners", [.number("number"), .text("item_id").references("items", "id"), .text("name").unique]),
    SQLTable("events", [.number("number"), .integer("sequence").unique, .text("text")]),
  ]
  static let schema = SQLSchema(baseline: tables)

  /// Opens the database like another process.
  func open(
    _ schema: SQLSchema = SQLFixture.schema, connections: Int = 2, busyMilliseconds: Int = 10_000,
    observer: SQLObserver? = nil
  ) throws -> SQLDatabase {
    var options = SQLOptions()
    options.connectionCount = connections
    options.busyTimeoutMilliseconds = busyMilliseconds
    options.observer = observer
    return try SQLDatabase(location, schema: schema, options: options)
  }

  /// Ends the server's side of all connections to this database.
  func terminateConnections() throws {
    guard backend == .postgreSQL else { return }
    try PrivatePostgreSQL.shared().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
  }
}

extension SQLConnection {
  func add(_ id: String, _ amount: Int64) throws {
    try execute("INSERT INTO items (id, amount) VALUES ($1, $2)", [.text(id), .integer(amount)], changing: 1)
  }

  func amount(_ id: String) throws -> Int64? {
    try row("SELECT amount FROM items WHERE id = $1", [.text(id)]) { try $0.integer(0) }
  }
}

/// Returns the failure of a step; `nil` if it succeeds.
func failure<Value: Sendable>(_ body: () async throws -> Value) async -> SQLFailure? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? SQLFailure }
}

extension SQLFailure {
  /// The database's name for a constraint.
  var constraintName: String? {
    if case .constraint(_, let name) = self { name } else { nil }
  }
}

extension Result where Failure == any Error {
  /// Creates the result of an asynchronous body.
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// A step that a thread can wait for, and a task afterwards.
final class SQLCompletion: Sendable {
  private let ended = DispatchSemaphore(value: 0)
  private let again = Completion<Bool>()

  init(_ step: Completion<Bool>) {
    step.then { [ended, again] result in
      again.settle(result)
      ended.signal()
    }
  }

  func wait(milliseconds: Int) { _ = ended.wait(timeout: .now() + .milliseconds(milliseconds)) }

  var value: Bool { get async throws { try await again.value } }
}
