public import Signet
import SignetCrypto
import Synchronization

/// An activation handler with scripted answers that records its calls.
public final class ScriptedActivation: ActivationHandler {
  private let reply: @Sendable (PasswordRequest) -> PasswordReply
  private let recorded = Mutex<(progress: [ActivationProgress], requests: [PasswordRequest])>(([], []))

  /// Creates a handler that gives this answer to each password request.
  public init(reply: PasswordReply) { self.reply = { _ in reply } }

  /// Creates a handler that gives these passwords.
  ///
  /// - Parameters:
  ///   - password: The password of the container, and of each key that is not listed.
  ///   - keyPasswords: The passwords of keys.
  public init(password: String, keyPasswords: [Key.Usage: String] = [:]) {
    reply = { request in
      let chosen = request.subject.key.flatMap { keyPasswords[$0] } ?? password
      return .proceed(SharedSecretBox(SecretBytes(copying: Array(chosen.utf8))))
    }
  }

  /// The reported progress.
  public var progress: [ActivationProgress] { recorded.withLock { $0.progress } }
  /// The password requests.
  public var requests: [PasswordRequest] { recorded.withLock { $0.requests } }

  /// Records the progress.
  public func progressed(to progress: ActivationProgress) async {
    recorded.withLock { $0.progress.append(progress) }
  }

  /// Records the request and answers it.
  public func password(for request: PasswordRequest) async -> PasswordReply {
    recorded.withLock { $0.requests.append(request) }
    return reply(request)
  }
}
