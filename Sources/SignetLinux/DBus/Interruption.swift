import CSystemd
import Glibc
import SignetSystem

/// Wakes a thread that waits for the bus, from any other thread; it fires once and cannot be reset.
@safe package final class Interruption: Sendable {
  /// A descriptor that is readable after ``fire()``.
  let descriptor: Int32

  /// Creates an interruption that has not fired.
  ///
  /// - Throws: ``BusFailure/connectionFailed(errno:)`` if the process has no free descriptor.
  package init() throws(BusFailure) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { throw .connectionFailed(errno: errno) }
  }

  deinit { close(descriptor) }

  /// Ends the current wait and every later one.
  package func fire() {
    var one: UInt64 = 1
    // Fails only if the counter is full; then it has already fired.
    _ = unsafe withUnsafeBytes(of: &one) { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }

  package var hasFired: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }
}

extension Interruption {
  /// Runs blocking work on its own thread, and fires if the task is cancelled; the work must then end.
  ///
  /// - Parameters:
  ///   - label: The name in debuggers and crash reports.
  ///   - work: The work, whose every wait must end when this interruption fires.
  /// - Returns: The result of the work.
  /// - Throws: Any error of the work.
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
