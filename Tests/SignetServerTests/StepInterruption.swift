import SignetStorage
import Synchronization

/// Changes something just before one of the steps of a service, as another process or an operator does.
final class StepInterruption: Sendable {
  /// Whether the steps of a task are not counted: what a server does by itself begins with this where the server is started so.
  @TaskLocal static var isBackground = false

  private struct State {
    var stepsLeft = 0
    var act: (@Sendable () throws -> Bool)?
    var wasUndecided: Bool?
  }

  private let state = Mutex(State())

  /// What calls it: for the storage of the service.
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

  /// Has something done before a step, counted from 1 and from now on.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - isUndecided: Whether nothing is decided yet.
  ///   - act: What is done.
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

  /// Has nothing done any more.
  ///
  /// - Returns: Whether nothing was decided when it was done; `nil` where there were not so many steps.
  func disarm() -> Bool? {
    state.withLock { state in
      defer { state = State() }
      return state.wasUndecided
    }
  }
}
