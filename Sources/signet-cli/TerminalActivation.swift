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
    output.print("Choose a password: \(Self.rules(of: request.policy)).")
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
        let violations = password.withSecret { secret in
          secret.withTemporaryArray { request.policy.violations(ofUTF8: $0) }
        }
        // A script gets its answer once; a person may try again.
        if violations.isEmpty || options.arguments.isSet("password-fd") { return .proceed(password) }
        for violation in violations { output.print("Not allowed: \(violation).") }
      }
    } catch {
      caught.withLock { $0 = error }
      return .cancel
    }
  }

  private static func rules(of policy: PasswordPolicy) -> String {
    var rules = ["\(policy.minimumLength) to \(policy.maximumLength) characters"]
    for kind in CharacterClass.allCases {
      let count = policy.count(of: kind)
      if count.maximum == 0 {
        rules.append("no \(kind.noun(0))")
      } else if count.minimum > 0 {
        rules.append("at least \(count.minimum) \(kind.noun(count.minimum))")
      }
    }
    if !policy.allowsSequences { rules.append("no sequences such as 123 or cba") }
    return rules.joined(separator: ", ")
  }
}
