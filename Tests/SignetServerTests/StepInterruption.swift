import SignetStorage
import Synchronization

/// Changes something just before one of the steps of a service, as another process or an operator might.
final class StepInterruption: Sendable {
  /// Indicates whether the steps of a task are not counted; the server's own background tasks inherit it from the task that
  /// starts the server.
  @TaskLocal static var isBackground = false

  private struct State {
    var stepsLeft = 0
    var act: (@Sendable () throws -> Bool)?
    var wasUndecided: Bool?
  }

  private let state = Mutex(State())

  /// The hooks for the service's storage.
  var faults: StepFaults {
    StepFaults(
      willBegin: { [self] in
        guard !Self.isBackground else { return }
        let act = state.withLock { state -> (@Sendable () throws -> Bool)? in
          state.stepsLeft -= 1
          guard state.stepsLeft == 0 else { return nil }
          return state.act
        }
        guard let act else { return }
        let wasUndecided = try act()
        state.withLock { $0.wasUndecided = wasUndecided }
      }, didEnd: {})
  }

  /// Arms a change before a step, counted from 1 and from now on.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - isUndecided: Whether nothing is decided yet.
  ///   - act: The change.
  func arm(
    before step: Int, isUndecided: @escaping @Sendable () throws -> Bool,
    _ act: @escaping @Sendable () throws -> Void
  ) {
    state.withLock { state in
      state = State()
      state.stepsLeft = step
      state.act = {
        let wasUndecided = try isUndecided()
        try act()
        return wasUndecided
      }
    }
  }

  /// Disarms the change.
  ///
  /// - Returns: Whether nothing was decided at the time of the change; `nil` if the step was not reached.
  func disarm() -> Bool? {
    state.withLock { state in
      defer { state = State() }
      return state.wasUndecided
    }
  }
}
