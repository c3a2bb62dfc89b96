import Foundation
import Synchronization

/// A set of concurrent child processes, some of which a test kills.
package final class ChildCrowd: Sendable {
  private struct State {
    var running: [ChildProcess] = []
    var successes = 0
    var deaths = 0
    var refusals: [String] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of processes that exited with status 0.
  package var successes: Int { state.withLock { $0.successes } }
  package var deaths: Int { state.withLock { $0.deaths } }
  /// The output of processes with another status.
  package var refusals: [String] { state.withLock { $0.refusals } }

  /// Runs a process to its end; its output must be `kept`.
  ///
  /// - Returns: The result of the process.
  /// - Throws: The errors of ``ChildCommand/finish(within:)``.
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

  /// Kills a random running process; returns false if none is running.
  package func killOne(using random: inout some RandomNumberGenerator) -> Bool {
    state.withLock(\.running).randomElement(using: &random)?.kill() ?? false
  }
}
