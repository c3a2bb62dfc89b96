import Foundation
import SignetTestKit
import Synchronization

/// A PostgreSQL server of the test process's own: a new cluster in a temporary folder, reached by a Unix socket in it alone.
///
/// It runs as the user of the tests, or as `postgres` where that is root, which PostgreSQL refuses. It ends, and its files go, when
/// the test process ends, however that does: the shell that has started it reads a pipe whose other end only the test process has, and
/// the server is killed with the shell.
package final class PrivatePostgreSQL: Sendable {
  /// It did not start, or refused a statement.
  package struct Failure: Error, CustomStringConvertible {
    /// What was seen.
    package let description: String
  }

  private static let programs = "/usr/lib/postgresql"
  private static let found = Result { try PrivatePostgreSQL() }

  /// Whether there is a PostgreSQL server to start; in CI its absence is a failure.
  package static let isPossible = version != nil || ContinuousIntegration.isHere

  private static let version = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: programs)) ?? []
    return folders.compactMap(Int.init).max()
  }()

  /// The server of this process, started with its first use.
  ///
  /// - Throws: ``Failure``.
  package static func shared() throws -> PrivatePostgreSQL { try found.get() }

  /// For the cluster, the socket and the log.
  package let folder: String
  private let supervisor: ChildProcess
  private let creating = Mutex(0)

  /// Starts one; it answers when this returns.
  ///
  /// - Throws: ``Failure``.
  package init() throws {
    guard let version = Self.version else {
      throw Failure(description: "there is no PostgreSQL in \(Self.programs); call Scripts/setup test")
    }
    folder = FileManager.default.temporaryDirectory.appending(path: "pg-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var line = ["/bin/sh", "-c", Self.script, "sh", folder, "\(Self.programs)/\(version)/bin"]
    if geteuid() == 0 {
      try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: folder)
      line = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + line
    }
    supervisor = try ChildCommand(
      line, folder: "/", input: .pipe, output: .pipe, errorOutput: .none
    ).start()
    let said = String(decoding: supervisor.output.availableData, as: UTF8.self)
    guard said == "ready\n" else {
      let log = try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)
      throw Failure(description: "PostgreSQL did not start: \(log ?? said)")
    }
  }

  /// The writes of tests are not synced to the disk: none of them cuts the power.
  private static let script = """
    set -e
    "$2/initdb" -D "$1/data" -A trust -U signet -E UTF8 --locale=C --no-sync >"$1/log" 2>&1
    cat >>"$1/data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$1'
    max_connections = 800
    shared_buffers = 32MB
    fsync = off
    jit = off
    END
    setpriv --pdeathsig QUIT "$2/postgres" -D "$1/data" >>"$1/log" 2>&1 &
    server=$!
    until "$2/pg_isready" -q -h "$1" -U signet -d postgres; do kill -0 $server; sleep 0.05; done
    echo ready
    cat >/dev/null || true
    kill -QUIT $server
    wait $server || true
    rm -rf "$1"
    """

  /// Makes a database.
  ///
  /// - Parameter template: What it is a copy of; nobody may be connected to that.
  /// - Returns: Its name.
  /// - Throws: ``Failure``.
  package func makeDatabase(template: String = "template0") throws -> String {
    try creating.withLock { count in
      count += 1
      let name = "test\(count)"
      try run("CREATE DATABASE \(name) TEMPLATE \(template)")
      return name
    }
  }

  /// How libpq finds a database, as `user`.
  package func address(_ database: String, user: String = "signet") -> String {
    "host='\(folder)' user=\(user) dbname=\(database)"
  }

  /// The same as a URI, as operators give it.
  package func uri(_ database: String, user: String = "signet") -> String {
    "postgres://\(user)@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))"
  }

  /// Runs a statement as the superuser, with a connection of its own.
  ///
  /// - Returns: The rows, their columns separated by `|`.
  /// - Throws: ``Failure``.
  @discardableResult
  package func run(_ sql: String, in database: String = "postgres") throws -> String {
    let result = try ChildCommand(
      ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-c", sql]
    ).finish()
    guard result.status == 0 else { throw Failure(description: result.errorOutput) }
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
