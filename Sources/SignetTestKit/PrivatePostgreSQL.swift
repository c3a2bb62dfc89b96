import Foundation
import Synchronization

/// A PostgreSQL server of the test process: a new cluster in a temporary folder, reachable only by a Unix socket there.
///
/// It runs as the user of the tests, or as `postgres` if that is root, which PostgreSQL refuses. The server ends and its
/// files are deleted when the test process ends in any way: the shell that started it reads a pipe whose other end only the
/// test process has, and the server is killed with the shell.
package final class PrivatePostgreSQL: Sendable {
  /// The server did not start, or rejected a statement.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private static let installed = "/usr/lib/postgresql"
  private static let instance = Result { try PrivatePostgreSQL() }

  /// True if a PostgreSQL server is installed; in CI its absence is a failure.
  package static let isPossible = version != nil || ContinuousIntegration.isHere

  private static let version = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: installed)) ?? []
    return folders.compactMap(Int.init).max()
  }()

  /// Returns the shared server of this process, started on first use.
  ///
  /// - Throws: ``Failure``.
  package static func shared() throws -> PrivatePostgreSQL { try instance.get() }

  /// The folder for the cluster, the socket and the log.
  package let folder: String
  /// The folder of the server's own programs: `psql` in the search path is a script that searches for one.
  private let programs: String
  private let supervisor: ChildProcess
  private let creating = Mutex(0)
  private let leases = Mutex<[Lease]>([])
  private let emptying = Mutex<(process: ChildProcess, database: String)?>(nil)

  /// A database that one test uses at a time.
  private struct Lease {
    let name: String
    let template: String
    /// The database is in use while this object exists.
    weak var holder: (any AnyObject & Sendable)?
  }

  /// Starts a server; it accepts connections when this returns.
  ///
  /// - Parameters:
  ///   - directory: The parent of its folder; all users must be able to write there.
  ///   - isDurable: True to sync commits to disk and vacuum tables, as in production: for measurements.
  /// - Throws: ``Failure``.
  package init(
    in directory: String = FileManager.default.temporaryDirectory.path, isDurable: Bool = false
  ) throws {
    guard let version = Self.version else {
      throw Failure(description: "there is no PostgreSQL in \(Self.installed); call Scripts/setup test")
    }
    programs = "\(Self.installed)/\(version)/bin"
    folder = "\(directory)/pg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let shared = ProcessInfo.processInfo.environment["SIGNET_TEST_SHARED"] ?? ""
    var line = ["/bin/sh", "-c", Self.script, "sh", folder, programs, shared, isDurable ? "on" : "off"]
    if geteuid() == 0 {
      try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: folder)
      line = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + line
    }
    supervisor = try ChildCommand(
      line, folder: "/", input: .pipe, output: .pipe, errorOutput: .none
    ).start()
    let answer = String(decoding: supervisor.output.availableData, as: UTF8.self)
    guard answer == "ready\n" else {
      let log = try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)
      throw Failure(description: "PostgreSQL did not start: \(log ?? answer)")
    }
  }

  /// The shell script that creates, starts and ends the server.
  ///
  /// Writes are not synced to disk, because no test cuts the power. Tables are too small to be vacuumed. Creating a cluster
  /// takes half a second of processor time. If the processes of a run share a folder, the first one leaves a copy of its own
  /// cluster there; if two copies are made at the same time, one stays.
  private static let script = """
    set -e
    start() {
      setpriv --pdeathsig QUIT "$2/postgres" -D "$1/data" >>"$1/log" 2>&1 &
      server=$!
      until "$2/pg_isready" -q -h "$1" -U signet -d postgres; do kill -0 $server; sleep 0.05; done
    }
    end() {
      kill -INT $server
      wait $server || true
    }
    if [ -n "$3" ] && [ -d "$3/cluster" ]; then
      cp -a "$3/cluster" "$1/data"
    else
      "$2/initdb" -D "$1/data" -A trust -U signet -E UTF8 --locale=C --no-sync >"$1/log" 2>&1
      if [ -n "$3" ]; then
        cp -a "$1/data" "$3/cluster.$$"
        mv -T "$3/cluster.$$" "$3/cluster" 2>>"$1/log" || rm -rf "$3/cluster.$$"
      fi
    fi
    cat >>"$1/data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$1'
    max_connections = 800
    shared_buffers = 32MB
    fsync = $4
    jit = off
    autovacuum = $4
    wal_level = minimal
    max_wal_senders = 0
    END
    start "$@"
    echo ready
    while read -r order; do
      end
      # What was written before would not do for a standby.
      echo "wal_level = replica" >>"$1/data/postgresql.conf"
      start "$@"
      end
      touch "$1/data/standby.signal"
      start "$@"
      echo "$order"
    done
    kill -QUIT $server
    wait $server || true
    rm -rf "$1"
    """

  /// Creates a database.
  ///
  /// - Parameter template: The database to copy, which must have no connections.
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

  /// Returns a database with the tables of a template and no rows: a returned one, or a new one.
  ///
  /// Emptying takes a tenth of the time of creating; half of the latter is the first connection.
  ///
  /// - Parameters:
  ///   - template: The database to copy; only its table `schema_version` has rows.
  ///   - holder: The database is not lent again while this object exists, or while it has connections.
  /// - Returns: Its name.
  /// - Throws: ``Failure``.
  package func borrowDatabase(template: String, for holder: some AnyObject & Sendable) throws -> String {
    try leases.withLock { leases in
      for _ in 0..<2 {
        guard let index = leases.firstIndex(where: { $0.holder == nil && $0.template == template }) else {
          break
        }
        // Move it to the end: the next call tries others first.
        var free = leases.remove(at: index)
        let isEmpty = try empty(free.name)
        if isEmpty { free.holder = holder }
        leases.append(free)
        if isEmpty { return free.name }
      }
      let name = try makeDatabase(template: template)
      leases.append(Lease(name: name, template: template, holder: holder))
      return name
    }
  }

  /// Deletes the rows of a database without other connections.
  ///
  /// - Returns: True if the rows were deleted.
  private func empty(_ database: String) throws -> Bool {
    try emptying.withLock { open in
      // The psql process keeps running and switches databases: a connection costs more than the deletion.
      if let (process, last) = open {
        open = (process, database)
        let commands = last == database ? "" : "\\connect \(database)\n"
        let answer = try Self.delete(by: process, commands)
        if !answer.isEmpty { return try Self.isDone(answer) }
        // A test has ended all connections, including psql's: start another one.
      }
      let process = try ChildCommand(
        ["\(programs)/psql", "-XAtq", "-d", address(database)], input: .pipe, output: .pipe,
        errorOutput: .none
      ).start()
      open = (process, database)
      return try Self.isDone(Self.delete(by: process))
    }
  }

  /// Deletes the rows of a database with psql.
  ///
  /// - Parameters:
  ///   - process: The psql process.
  ///   - commands: Commands to run first.
  /// - Returns: psql's answer: its `ERROR` variable; empty if psql has ended.
  /// - Throws: The error of writing to psql.
  private static func delete(by process: ChildProcess, _ commands: String = "") throws -> String {
    try process.input.write(contentsOf: Data("\(commands)\(deletion);\n\\echo :ERROR\n".utf8))
    return String(decoding: process.output.availableData, as: UTF8.self)
  }

  private static func isDone(_ answer: String) throws -> Bool {
    guard answer == "false\n" || answer == "true\n" else { throw Failure(description: "psql said \(answer)") }
    return answer == "false\n"
  }

  /// Waits for connections that are just closing: emptying another database would need a new connection.
  private static let deletion = """
    DO $$
    DECLARE
      one TEXT;
      rounds INTEGER = 0;
    BEGIN
      SET LOCAL session_replication_role = replica;
      WHILE (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) > 1 LOOP
        IF rounds = 50 THEN RAISE 'it is in use'; END IF;
        rounds = rounds + 1;
        PERFORM pg_sleep(0.002), pg_stat_clear_snapshot();
      END LOOP;
      FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version' LOOP
        EXECUTE 'DELETE FROM ' || quote_ident(one);
      END LOOP;
      PERFORM setval(quote_ident(sequencename)::regclass, 1, FALSE) FROM pg_sequences WHERE schemaname = 'public';
    END $$
    """

  /// Restarts the server as a standby without a primary, until `pg_promote()` promotes it; not for the shared one.
  ///
  /// - Throws: ``Failure``.
  package func becomeStandby() throws {
    try supervisor.input.write(contentsOf: Data("standby\n".utf8))
    let answer = String(decoding: supervisor.output.availableData, as: UTF8.self)
    guard answer == "standby\n" else { throw Failure(description: "PostgreSQL is no standby: \(answer)") }
  }

  /// Returns libpq's connection string of a database.
  package func address(_ database: String, user: String = "signet") -> String {
    "host='\(folder)' user=\(user) dbname=\(database)"
  }

  /// Returns the URI of a database, in the form for operators.
  package func uri(_ database: String, user: String = "signet") -> String {
    "postgres://\(user)@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))"
  }

  /// Runs a statement as superuser, in its own connection.
  ///
  /// - Returns: The rows, with columns separated by `|`.
  /// - Throws: ``Failure``.
  @discardableResult
  package func run(_ sql: String, in database: String = "postgres") throws -> String {
    let result = try ChildCommand(
      ["\(programs)/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-c", sql]
    ).finish()
    guard result.status == 0 else { throw Failure(description: result.errorOutput) }
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
