import SignetStorage
import Synchronization

/// Changes something just before one of the steps of a service, as another process or an operator does.
final class StepInterruption: Sendable {
  /// Whether the steps of a task are not counted: what a server does by itself begins with this where the server is started so.
  @TaskLocal static var isBackground = false

  private struct State {
    var stepsLeft = 0
    var act: (@Sendable () throws -> Bool)?
    var wasOpen: Bool?
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
        let wasOpen = try act()
        state.withLock { $0.wasOpen = wasOpen }
      }, didEnd: {})
  }

  /// Has something done before a step, counted from 1 and from now on.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - isOpen: Whether nothing is decided yet.
  ///   - act: What is done.
  func set(
    before step: Int, isOpen: @escaping @Sendable () throws -> Bool,
    _ act: @escaping @Sendable () throws -> Void
  ) {
    state.withLock { state in
      state = State()
      state.stepsLeft = step
      state.act = {
        let wasOpen = try isOpen()
        try act()
        return wasOpen
      }
    }
  }

  /// Has nothing done any more.
  ///
  /// - Returns: Whether nothing was decided when it was done; `nil` where there were not so many steps.
  func clear() -> Bool? {
    state.withLock { state in
      defer { state = State() }
      return state.wasOpen
    }
  }
}
