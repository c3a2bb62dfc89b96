public import SignetVault
import Synchronization

/// A simulated biometric sensor that a test controls.
public final class SimulatedBiometrics: BiometricGate {
  /// The outcome of a match.
  public enum Outcome: Sendable {
    /// An enrolled finger matches.
    case match
    /// The match fails.
    case failure(BiometricFailure)
    /// No finger touches the sensor; the match waits until the task is cancelled.
    case nobody
  }

  private struct Values: Sendable {
    var state: BiometricState
    var outcomes: [Outcome] = []
    var reasons: [String] = []
    var lockoutsEnded = 0
  }

  private let values: Mutex<Values>

  /// Creates a sensor in a state; every match succeeds unless a test queues another outcome.
  public init(_ state: BiometricState = .ready(.simulated(fingers: 1))) {
    values = Mutex(Values(state: state))
  }

  /// Changes the state: enrol another finger, remove all, or remove the sensor.
  public func set(_ state: BiometricState) { values.withLock { $0.state = state } }

  /// Queues the outcomes of the next matches, in order, after those already queued.
  public func queue(_ outcomes: Outcome...) { values.withLock { $0.outcomes += outcomes } }

  /// The reasons of all matches, in order.
  public var reasons: [String] { values.withLock { $0.reasons } }

  /// The number of ended lockouts.
  public var lockoutsEnded: Int { values.withLock { $0.lockoutsEnded } }

  /// Returns the state that the test set.
  public func state() async throws(BiometricFailure) -> BiometricState { values.withLock { $0.state } }

  /// Returns the queued outcome.
  ///
  /// - Throws: The queued failure, ``BiometricFailure/cancelled`` in a cancelled task, and the failure that the state
  ///   implies.
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
  /// Returns a set for tests: different numbers give different sets.
  public static func simulated(fingers: UInt8) -> EnrolledSet {
    EnrolledSet(digest: [UInt8](repeating: fingers, count: 32))
  }
}

/// Returns only when the task is cancelled.
func untilCancelled() async {
  let (stream, continuation) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
  continuation.finish()
}
