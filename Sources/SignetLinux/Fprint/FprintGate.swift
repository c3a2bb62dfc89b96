public import SignetVault
import Synchronization

/// Fingerprints on Linux, by the service fprintd on the system bus.
///
/// Each call has its own connection and thread: when the connection ends, fprintd frees the sensor. fprintd answers yes or
/// no and counts nothing, so this gate counts the mismatches. After ``mismatchLimit`` consecutive ones it is locked until
/// ``endLockout()``. The count ends with the gate; a vault counts the gate's reports durably.
public final class FprintGate: BiometricGate {
  /// The number of consecutive mismatches after which no finger is accepted.
  public static let mismatchLimit = 5
  /// The number of fingers that one call of `match` reads.
  public static let triesPerMatch = 3

  private let address: String
  private let timeLimit: Duration
  private let mismatches = Mutex(0)

  /// Creates a gate on the system's bus.
  ///
  /// - Parameter timeLimit: The time-out of the sensor in one match, for all tries together.
  public convenience init(timeLimit: Duration = .seconds(30)) {
    self.init(address: BusConnection.systemAddress, timeLimit: timeLimit)
  }

  /// Creates a gate on any bus, for tests.
  ///
  /// - Parameters:
  ///   - address: In the form of the D-Bus specification.
  ///   - timeLimit: The time-out of the sensor in one match.
  package init(address: String, timeLimit: Duration = .seconds(30)) {
    self.address = address
    self.timeLimit = timeLimit
  }

  /// Queries fprintd for its first reader and the user's fingers.
  ///
  /// - Throws: ``BiometricFailure``.
  public func state() async throws(BiometricFailure) -> BiometricState {
    let state = try await withReader { (reader) throws(BiometricFailure) -> BiometricState in
      do throws(BiometricFailure) {
        return try reader.enrolledSet().map(BiometricState.ready) ?? .notEnrolled
      } catch .notCapable {
        // The reader was removed after fprintd had named it.
        return .notCapable
      }
    }
    return state ?? .notCapable
  }

  /// Runs a match of any of the user's fingers.
  ///
  /// - Throws: ``BiometricFailure``.
  public func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet {
    if mismatches.withLock({ $0 >= Self.mismatchLimit }) { throw .lockedOut }
    let timeLimit = timeLimit
    let set = try await withReader { [self] (reader) throws(BiometricFailure) in
      try reader.match(within: timeLimit, reason: reason, hints: hints) { countMismatch() }
    }
    guard let set else { throw .notCapable }
    mismatches.withLock { $0 = 0 }
    return set
  }

  /// Resets the mismatch count.
  public func endLockout() async { mismatches.withLock { $0 = 0 } }

  /// Counts a mismatch and returns the consequence.
  private func countMismatch() -> MismatchVerdict {
    mismatches.withLock { count in
      count += 1
      return count >= Self.mismatchLimit ? .lockedOut : .counted
    }
  }

  /// Lends the first reader to `body`, on a thread that may block.
  ///
  /// - Returns: `nil` if there is no reader.
  private func withReader<Value: Sendable>(
    _ body: @escaping @Sendable (inout FprintReader) throws(BiometricFailure) -> Value
  ) async throws(BiometricFailure) -> Value? {
    let interruption: Interruption
    do { interruption = try Interruption() } catch { throw BiometricFailure(error) }
    let address = address
    return try await interruption.run("signet.fprint") { () throws(BiometricFailure) -> Value? in
      guard var reader = try FprintReader.first(at: address, interruption: interruption) else { return nil }
      return try body(&reader)
    }
  }
}

/// The consequence of a mismatch.
enum MismatchVerdict: Sendable {
  case counted
  case lockedOut
}
