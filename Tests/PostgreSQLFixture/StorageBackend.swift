import Foundation
package import SignetSQL
package import SignetStorage
package import SignetTestKit
import Testing

/// The databases that can have a server's state.
package enum StorageBackend: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// A file in a folder of the test.
  case sqlite
  /// A database of the test on the private server.
  case postgreSQL

  /// The name of the back end.
  package var testDescription: String { rawValue }

  /// The back ends that this machine has.
  package static let here = allCases.filter { $0 == .sqlite || PrivatePostgreSQL.isPossible }

  /// The back end of the services' tests, which run once with each: `SIGNET_TEST_STORAGE` names it.
  package static let ofServices =
    ProcessInfo.processInfo.environment["SIGNET_TEST_STORAGE"].flatMap(Self.init(rawValue:)) ?? .sqlite

  /// A database with the tables of a server, which is copied.
  private static let template = Result {
    let server = try PrivatePostgreSQL.shared()
    let name = try server.makeDatabase()
    _ = try Storage(.server(server.address(name)))
    return name
  }

  /// Makes an empty location for a server's state.
  ///
  /// - Parameters:
  ///   - folder: The folder for a file.
  ///   - hasTables: Whether a database on the server has the tables already.
  /// - Returns: The location.
  /// - Throws: The error that prevents its creation.
  package func location(in folder: TemporaryFolder, hasTables: Bool = true) throws -> StorageLocation {
    switch self {
    case .sqlite: return .file(folder.file("signet.sqlite"))
    case .postgreSQL:
      let server = try PrivatePostgreSQL.shared()
      let name =
        try hasTables
        ? server.borrowDatabase(template: Self.template.get(), for: folder) : server.makeDatabase()
      return .server(server.address(name))
    }
  }
}

extension Storage {
  /// Opens a server's state like another process.
  ///
  /// - Parameters:
  ///   - location: The location.
  ///   - connections: The number of connections to a database server; with one, the audit log has one chain.
  ///   - preparation: Statements that SQLite's writer runs at the start.
  ///   - observer: Receives each statement of a change before it runs.
  /// - Returns: The storage.
  /// - Throws: `StorageFailure`.
  package static func open(
    _ location: StorageLocation, connections: Int = 1, preparation: [String] = [],
    observer: (@Sendable (_ sql: String) throws -> Void)? = nil
  ) throws -> Storage {
    var options = SQLOptions()
    options.connectionCount = connections
    options.preparation = preparation
    options.observer = observer.map { SQLObserver(willExecute: $0) }
    return try Storage(location, options: options)
  }
}

extension SQLDatabase {
  /// Opens a server's state like an attacker who can write to the database, without the master key.
  package static func beside(_ location: StorageLocation) throws -> SQLDatabase {
    let place: SQLLocation =
      switch location {
      case .file(let path): .file(path)
      case .server(let address): .server(address)
      }
    var options = SQLOptions()
    options.connectionCount = 1
    return try SQLDatabase(place, schema: SQLSchema(baseline: []), options: options)
  }
}
