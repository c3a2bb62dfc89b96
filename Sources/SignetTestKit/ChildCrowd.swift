import Foundation
import Synchronization

/// Child processes that run at the same time, of which a test kills some.
package final class ChildCrowd: Sendable {
  private struct State {
    var running: [ChildProcess] = []
    var successes = 0
    var deaths = 0
    var refusals: [String] = []
  }

  private let state = Mutex(State())

  /// Nobody yet.
  package init() {}

  /// How many have ended with status 0.
  package var successes: Int { state.withLock { $0.successes } }
  /// How many were killed.
  package var deaths: Int { state.withLock { $0.deaths } }
  /// What the others have ended with.
  package var refusals: [String] { state.withLock { $0.refusals } }

  /// Runs one to its end; its output has to be kept.
  ///
  /// - Returns: What became of it.
  /// - Throws: As ``ChildCommand/finish(within:)``.
  @discardableResult package func run(_ command: ChildCommand) async throws -> ChildProcess.Result {
    let child = try command.start()
    state.withLock { $0.running.append(child) }
    let result = try await child.result()
    state.withLock { state in
      state.running.removeAll { $0 === child }
      switch result.status {
      case 0: state.successes += 1
      case -SIGKILL: state.deaths += 1
      default: state.refusals.append("status \(result.status): \(result.output)\(result.errorOutput)")
      }
    }
    return result
  }

  /// Kills one of those that run; false where none does.
  package func killOne(using random: inout some RandomNumberGenerator) -> Bool {
    state.withLock(\.running).randomElement(using: &random)?.kill() ?? false
  }
}
