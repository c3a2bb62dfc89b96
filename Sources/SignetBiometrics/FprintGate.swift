import SignetDBus
public import SignetVault
import Synchronization

/// Fingerprints on Linux, by the service fprintd on the system bus.
///
/// Each call has a connection of its own, on a thread of its own, and leaves nothing behind: when the connection ends,
/// fprintd frees the sensor. fprintd says yes or no and counts nothing, so this gate counts the mismatches: with
/// ``mismatchLimit`` in a row it is locked until ``endLockout()``. The count lasts as long as the gate; a vault that must not
/// forget counts durably what the gate reports.
public final class FprintGate: BiometricGate {
  /// The mismatches in a row after which no finger counts any more.
  public static let mismatchLimit = 5
  /// The fingers that one call of `match` looks at.
  public static let triesPerMatch = 3

  private let address: String
  private let timeLimit: Duration
  private let mismatches = Mutex(0)

  /// A gate on the system's bus.
  ///
  /// - Parameter timeLimit: How long the sensor waits in one match, for all tries together.
  public convenience init(timeLimit: Duration = .seconds(30)) {
    self.init(address: BusConnection.systemAddress, timeLimit: timeLimit)
  }

  /// A gate on any bus: for tests.
  ///
  /// - Parameters:
  ///   - address: In the form of the D-Bus specification.
  ///   - timeLimit: How long the sensor waits in one match.
  package init(address: String, timeLimit: Duration = .seconds(30)) {
    self.address = address
    self.timeLimit = timeLimit
  }

  /// Asks fprintd for its first reader and the user's fingers.
  ///
  /// - Throws: ``BiometricFailure``.
  public func state() async throws(BiometricFailure) -> BiometricState {
    let state = try await withReader { (reader) throws(BiometricFailure) -> BiometricState in
      do throws(BiometricFailure) {
        return try reader.enrolledSet().map(BiometricState.ready) ?? .notEnrolled
      } catch .notCapable {
        // It was taken away after fprintd had named it.
        return .notCapable
      }
    }
    return state ?? .notCapable
  }

  /// Has fprintd match any of the user's fingers.
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

  /// Forgets the mismatches.
  public func endLockout() async { mismatches.withLock { $0 = 0 } }

  /// Counts a finger that was not recognised: what it may do next.
  private func countMismatch() -> MismatchVerdict {
    mismatches.withLock { count in
      count += 1
      return count >= Self.mismatchLimit ? .lockedOut : .counted
    }
  }

  /// Lends the first reader to `body`, on a thread that may block.
  ///
  /// - Returns: nil where there is no reader.
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

/// What a mismatch leads to.
enum MismatchVerdict: Sendable {
  /// Another try may follow.
  case counted
  /// None may.
  case lockedOut
}
