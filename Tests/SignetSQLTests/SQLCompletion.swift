import Dispatch
import SignetSystem
import Synchronization

/// A step that a thread can wait for, and a task afterwards.
final class SQLCompletion: Sendable {
  private let ended = DispatchSemaphore(value: 0)
  private let again = Completion<Bool>()

  init(_ step: Completion<Bool>) {
    step.then { [ended, again] result in
      again.settle(result)
      ended.signal()
    }
  }

  func wait(milliseconds: Int) { _ = ended.wait(timeout: .now() + .milliseconds(milliseconds)) }

  var value: Bool { get async throws { try await again.value } }
}
