import SignetConcurrency
import SignetSQLite

/// A connection that reads committed state, beside the one that writes.
actor Reader {
  private let executor = BlockingExecutor(label: "signet.storage.reader")
  private var database: Database?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(path: String, busyTimeoutMilliseconds: Int) throws(StorageFailure) {
    do {
      database = try Database(path: path, mode: .readWrite, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    } catch { throw StorageFailure(error) }
  }

  /// Reads; `body` writes nothing.
  func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws(StorageFailure) -> Value {
    guard let database else { throw .closed }
    do { return try body(database) } catch { throw StorageFailure(error) }
  }

  /// Closes the connection; later reads throw ``StorageFailure/closed``.
  func close() { database = nil }
}
