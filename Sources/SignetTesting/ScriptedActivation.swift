public import Signet
import SignetCrypto
import Synchronization

/// Answers an activation as a script says, and remembers what it was told.
public final class ScriptedActivation: ActivationHandler {
  private let reply: @Sendable (PasswordRequest) -> PasswordReply
  private let seen = Mutex<(progress: [ActivationProgress], requests: [PasswordRequest])>(([], []))

  /// Gives this answer to each request for a password.
  public init(reply: PasswordReply) { self.reply = { _ in reply } }

  /// Gives these passwords.
  ///
  /// - Parameters:
  ///   - password: That of the container, and of each key that is not named.
  ///   - keyPasswords: Those of keys.
  public init(password: String, keyPasswords: [Key.Usage: String] = [:]) {
    reply = { request in
      let chosen = request.subject.key.flatMap { keyPasswords[$0] } ?? password
      return .proceed(SharedSecretBox(SecretBytes(copying: Array(chosen.utf8))))
    }
  }

  /// What was reported.
  public var progress: [ActivationProgress] { seen.withLock { $0.progress } }
  /// What was asked.
  public var requests: [PasswordRequest] { seen.withLock { $0.requests } }

  /// Remembers.
  public func progressed(to progress: ActivationProgress) async {
    seen.withLock { $0.progress.append(progress) }
  }

  /// Remembers and answers.
  public func password(for request: PasswordRequest) async -> PasswordReply {
    seen.withLock { $0.requests.append(request) }
    return reply(request)
  }
}
