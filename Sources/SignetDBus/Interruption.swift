import SignetConcurrency
import CSystemd
import Glibc

/// Wakes a thread that waits for the bus, from any other thread, once and for good.
@safe package final class Interruption: Sendable {
  /// Readable from ``fire()`` on.
  let descriptor: Int32

  /// Makes one that has not fired.
  ///
  /// - Throws: ``BusFailure/connectionFailed(errno:)`` where the process has no descriptor left.
  package init() throws(BusFailure) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { throw .connectionFailed(errno: errno) }
  }

  deinit { close(descriptor) }

  /// Ends the wait, and every later one.
  package func fire() {
    var one: UInt64 = 1
    // Fails only when the count is full, and then it has fired already.
    _ = unsafe withUnsafeBytes(of: &one) { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Whether it has fired.
  package var hasFired: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }
}

extension Interruption {
  /// Runs work that blocks on a thread of its own, and fires when the task is cancelled; the work has to end by then.
  ///
  /// - Parameters:
  ///   - label: What debuggers and crash reports show.
  ///   - work: What waits for this interruption wherever it waits.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  package func run<Value: Sendable, Failure: Error>(
    _ label: String, _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let executor = BlockingExecutor(label: label)
    let result = await withTaskCancellationHandler {
      await executor.run { () -> Result<Value, Failure> in
        do throws(Failure) { return .success(try work()) } catch { return .failure(error) }
      }
    } onCancel: {
      fire()
    }
    return try result.get()
  }
}
