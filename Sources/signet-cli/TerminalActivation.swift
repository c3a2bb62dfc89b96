import Signet
import SignetTerminal
import Synchronization

/// Shows an activation's progress and asks for its password, again where the policy refuses one at a terminal.
final class TerminalActivation: ActivationHandler {
  private let options: DeviceOptions
  private let progress: ProgressLine
  private let caught = Mutex<(any Error)?>(nil)

  init(options: DeviceOptions, progress: ProgressLine) { (self.options, self.progress) = (options, progress) }

  /// Why no password could be read, if so.
  var failure: (any Error)? { caught.withLock { $0 } }

  func progressed(to state: ActivationProgress) async { progress.update(state.fraction, state.message) }

  func password(for request: PasswordRequest) async -> PasswordReply {
    progress.finish()
    do {
      return .proceed(
        try await options.newPassword(
          for: request.subject.key, under: request.policy, request.lockPolicy, .enrolment))
    } catch {
      caught.withLock { $0 = error }
      return .cancel
    }
  }
}
