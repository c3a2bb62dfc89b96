import Foundation
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

  private static let installed = "/usr/lib/postgresql"
  private static let found = Result { try PrivatePostgreSQL() }

  /// Whether there is a PostgreSQL server to start; in CI its absence is a failure.
  package static let isPossible = version != nil || ContinuousIntegration.isHere

  private static let version = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: installed)) ?? []
    return folders.compactMap(Int.init).max()
  }()

  /// The server of this process, started with its first use.
  ///
  /// - Throws: ``Failure``.
  package static func shared() throws -> PrivatePostgreSQL { try found.get() }

  /// For the cluster, the socket and the log.
  package let folder: String
  /// Where the server's own programs are: `psql` on the search path is a script that looks for one.
  private let programs: String
  private let supervisor: ChildProcess
  private let creating = Mutex(0)
  private let lent = Mutex<[Lent]>([])
  private let emptying = Mutex<(process: ChildProcess, database: String)?>(nil)

  /// A database that is one test's, and another's after that.
  private struct Lent {
    let name: String
    let template: String
    /// What the test holds on to while it runs.
    weak var holder: (any AnyObject & Sendable)?
  }

  /// Starts one; it answers when this returns.
  ///
  /// - Parameters:
  ///   - directory: Where its folder lies; everybody may make files there.
  ///   - isDurable: Whether commits are synced to the disk and tables vacuumed, as where somebody keeps data: for measurements.
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
    let said = String(decoding: supervisor.output.availableData, as: UTF8.self)
    guard said == "ready\n" else {
      let log = try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)
      throw Failure(description: "PostgreSQL did not start: \(log ?? said)")
    }
  }

  /// Writes of tests are not synced to the disk, since none cuts the power, and their tables are too small to be vacuumed.
  ///
  /// A cluster takes half a second of a processor to make. Where the processes of a run share a folder, the first one leaves a copy of
  /// its own there; of two that make one at the same time, one copy stays.
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

  /// A database with the tables of a template and no rows: one that was lent before, or a new one.
  ///
  /// To empty one takes a tenth of what making one does, of which the first connection to it is the half.
  ///
  /// - Parameters:
  ///   - template: What it is a copy of; it has rows in `schema_version` alone.
  ///   - holder: The database is not lent again while this lives, or while something is connected to it.
  /// - Returns: Its name.
  /// - Throws: ``Failure``.
  package func borrowDatabase(template: String, for holder: some AnyObject & Sendable) throws -> String {
    try lent.withLock { lent in
      for _ in 0..<2 {
        guard let index = lent.firstIndex(where: { $0.holder == nil && $0.template == template }) else {
          break
        }
        // To the end: the next time others are looked at before it.
        var free = lent.remove(at: index)
        let isEmpty = try empty(free.name)
        if isEmpty { free.holder = holder }
        lent.append(free)
        if isEmpty { return free.name }
      }
      let name = try makeDatabase(template: template)
      lent.append(Lent(name: name, template: template, holder: holder))
      return name
    }
  }

  /// Deletes the rows of a database that nobody else is connected to.
  ///
  /// - Returns: Whether that was done.
  private func empty(_ database: String) throws -> Bool {
    try emptying.withLock { open in
      // Once connected it stays until it is another's turn: a connection costs more than what it does.
      if let (process, last) = open {
        open = (process, database)
        let turn = last == database ? "" : "\\connect \(database)\n"
        let said = try Self.delete(by: process, turn)
        if !said.isEmpty { return try Self.isDone(said) }
        // A test has ended all connections, and psql with its own: another one does it.
      }
      let process = try ChildCommand(
        ["\(programs)/psql", "-XAtq", "-d", address(database)], input: .pipe, output: .pipe,
        errorOutput: .none
      ).start()
      open = (process, database)
      return try Self.isDone(Self.delete(by: process))
    }
  }

  /// Has psql delete the rows of a database.
  ///
  /// - Parameters:
  ///   - process: psql.
  ///   - turn: What it does before.
  /// - Returns: Whether that failed, as psql says it; empty where psql has ended.
  /// - Throws: What keeps psql from being told.
  private static func delete(by process: ChildProcess, _ turn: String = "") throws -> String {
    try process.input.write(contentsOf: Data("\(turn)\(deletion);\n\\echo :ERROR\n".utf8))
    return String(decoding: process.output.availableData, as: UTF8.self)
  }

  private static func isDone(_ said: String) throws -> Bool {
    guard said == "false\n" || said == "true\n" else { throw Failure(description: "psql said \(said)") }
    return said == "false\n"
  }

  /// Who has just closed a connection is waited for: another database would need a new connection to be emptied.
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

  /// Starts it again as a standby without a primary, until `pg_promote()` makes it one; not for the shared one.
  ///
  /// - Throws: ``Failure``.
  package func becomeStandby() throws {
    try supervisor.input.write(contentsOf: Data("standby\n".utf8))
    let said = String(decoding: supervisor.output.availableData, as: UTF8.self)
    guard said == "standby\n" else { throw Failure(description: "PostgreSQL is no standby: \(said)") }
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
      ["\(programs)/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-c", sql]
    ).finish()
    guard result.status == 0 else { throw Failure(description: result.errorOutput) }
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
