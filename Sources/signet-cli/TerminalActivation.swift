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
    let output = options.arguments.errorOutput
    output.print("Choose a password: \(request.policy.requirements.joined(separator: ", ")).")
    if let limit = request.lockPolicy.limit {
      output.print("After \(limit) wrong passwords in a row the container is locked for good.")
    }
    do {
      while true {
        let password: SharedSecretBox
        do { password = try await options.newPassword() } catch SecretInputFailure.mismatch {
          output.print("The two entries differ; try again.")
          continue
        }
        let violations = try await request.policy.violations(of: password, purpose: .enrolment)
        // A script gets its answer once; a person may try again.
        if violations.isEmpty || options.arguments.isSet("password-fd") { return .proceed(password) }
        for violation in violations { output.print("Not allowed: \(violation).") }
      }
    } catch {
      caught.withLock { $0 = error }
      return .cancel
    }
  }
}
