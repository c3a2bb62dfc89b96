public import SignetVault
import Synchronization

/// A sensor that does what a test says.
public final class SimulatedBiometrics: BiometricGate {
  /// What the next match comes to.
  public enum Outcome: Sendable {
    /// An enrolled finger.
    case match
    /// Anything else.
    case failure(BiometricFailure)
    /// Nobody touches the sensor until the task is cancelled.
    case nobody
  }

  private struct Values: Sendable {
    var state: BiometricState
    var outcomes: [Outcome] = []
    var reasons: [String] = []
    var lockoutsEnded = 0
  }

  private let values: Mutex<Values>

  /// Starts in a state; every match succeeds unless a test queues something else.
  public init(_ state: BiometricState = .ready(.simulated(fingers: 1))) {
    values = Mutex(Values(state: state))
  }

  /// Changes the state: enrol another finger, forget all, take the sensor away.
  public func set(_ state: BiometricState) { values.withLock { $0.state = state } }

  /// Says what the next matches come to, in order, after those queued already.
  public func queue(_ outcomes: Outcome...) { values.withLock { $0.outcomes += outcomes } }

  /// The reasons that were given, in order.
  public var reasons: [String] { values.withLock { $0.reasons } }

  /// How often a lockout was ended.
  public var lockoutsEnded: Int { values.withLock { $0.lockoutsEnded } }

  /// What the test set.
  public func state() async throws(BiometricFailure) -> BiometricState { values.withLock { $0.state } }

  /// Does what the test queued.
  ///
  /// - Throws: What the test queued, ``BiometricFailure/cancelled`` in a cancelled task, and what the state implies.
  public func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet {
    let (state, outcome) = values.withLock { values in
      values.reasons.append(reason)
      return (values.state, values.outcomes.isEmpty ? .match : values.outcomes.removeFirst())
    }
    if Task.isCancelled { throw .cancelled }
    let set: EnrolledSet
    switch state {
    case .notCapable: throw .notCapable
    case .notEnrolled: throw .notEnrolled
    case .ready(let enrolled): set = enrolled
    }
    hints(.touchSensor(reason: reason))
    switch outcome {
    case .match: return set
    case .failure(let failure): throw failure
    case .nobody:
      await untilCancelled()
      throw .cancelled
    }
  }

  /// Counts the call.
  public func endLockout() async { values.withLock { $0.lockoutsEnded += 1 } }
}

extension EnrolledSet {
  /// A set for tests: different numbers give different sets.
  public static func simulated(fingers: UInt8) -> EnrolledSet {
    EnrolledSet(digest: [UInt8](repeating: fingers, count: 32))
  }
}

/// Returns when the task is cancelled, and not before.
func untilCancelled() async {
  let (stream, continuation) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
  continuation.finish()
}
