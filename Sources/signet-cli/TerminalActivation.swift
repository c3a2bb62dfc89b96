import Signet
import SignetTerminal
import Synchronization

/// Shows an activation's progress and asks for its password; at a terminal again if the policy rejects it.
final class TerminalActivation: ActivationHandler {
  private let options: DeviceOptions
  private let progress: ProgressLine
  private let present: Container?
  private let lastError = Mutex<(any Error)?>(nil)

  init(options: DeviceOptions, progress: ProgressLine, renewing present: Container? = nil) {
    self.options = options
    self.progress = progress
    self.present = present
  }

  /// The error if no password could be read.
  var failure: (any Error)? { lastError.withLock { $0 } }

  func progressed(to state: ActivationProgress) async { progress.update(state.fraction, state.message) }

  func password(for request: PasswordRequest) async -> PasswordReply {
    progress.finish()
    let key = request.subject.key
    if let present, present.hasPassword(of: key) {
      let subject = key.map { " for the \($0)" } ?? ""
      options.arguments.errorOutput.print(
        "The current password\(subject) cannot be kept: it does not meet the server's new rules.")
    }
    do {
      return .proceed(
        try await options.newPassword(
          for: key, under: request.policy, request.lockPolicy, .enrolment))
    } catch {
      lastError.withLock { $0 = error }
      return .cancel
    }
  }
}

extension Container {
  /// Returns true if the container, or a key with its own protection, has a password.
  fileprivate func hasPassword(of key: Key.Usage?) -> Bool {
    protection(of: key).passwordPolicy != nil && (key.map(hasOwnProtection) ?? true)
  }
}
