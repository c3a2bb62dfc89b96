import SignetCrypto
import SignetOATH
import SignetStorage
public import SignetWire

/// One-time passwords: whether a code is good, once (`docs/protocol.md` section 6).
public struct CodeService: Sendable {
  private let context: ServiceContext

  /// A service over a context.
  public init(_ context: ServiceContext) { self.context = context }

  /// Checks a code against the user's active containers and uses it up.
  ///
  /// - Parameters:
  ///   - code: What the user typed.
  ///   - user: Who typed it.
  ///   - actor: Who asks, for the audit log, which also gets the reason.
  /// - Returns: Whether the code is good.
  /// - Throws: ``Problem`` when it can't be told.
  public func validate(_ code: String, user: UserID, by actor: String) async throws(Problem) -> Bool {
    let containers = try await context.stored(await context.storage.containers(user: user.text))
    let match = try match(code, containers.filter { $0.state == .active })
    let audit = context.audit(by: actor)
    let limit = context.settings.codeAttempts
    let outcome = try await context.stored(
      await context.storage.submitCode(user: user.text, match: match, limit: limit) { outcome in
        let members: KeyValuePairs<String, String?> = [
          // Of a code that is refused whatever it is, nothing says whether it was right.
          "user": user.text, "container": outcome == .locked ? nil : match?.container,
          "reason": Self.reason(outcome),
        ]
        return audit(outcome == .accepted ? "code.accepted" : "code.refused", members)
      })
    return outcome == .accepted
  }

  /// Finds the container whose code it is; every container is tried, whichever fits.
  private func match(_ code: String, _ containers: [ContainerRecord]) throws(Problem) -> CodeMatch? {
    let window = context.settings.codeWindow
    var found: CodeMatch?
    for container in containers {
      let profile: ContainerProfile
      do { profile = try ContainerProfile(stored: container.profile) } catch {
        context.log.error("container.unreadable", ["container": container.id, "cause": error.description])
        continue
      }
      let secret = try context.computed(
        context.masterKey.open(container.sealedOTPSecret, for: .otpSecret(container: container.id)))
      guard let totp = generator(profile, secret),
        case .accepted(let matched) =
          window.verdict(on: code, from: totp, at: context.clock.now, lastAccepted: nil)
      else { continue }
      let counter = Int64(clamping: matched)
      // A counter that was used before is still a match: the conditional write tells the two apart.
      if found == nil || counter > container.lastCounter ?? -1 {
        found = CodeMatch(container: container.id, counter: counter)
      }
    }
    return found
  }

  private func generator(_ profile: ContainerProfile, _ secret: borrowing SecretBytes) -> TOTP? {
    do { return try profile.totp.generator(secret: secret) } catch {
      context.log.error("container.unreadable", ["cause": error.description])
      return nil
    }
  }

  private static func reason(_ outcome: CodeOutcome) -> String? {
    switch outcome {
    case .accepted: nil
    case .replayed: "this code, or a later one, was used before"
    case .wrong: "no container of the user has this code now"
    case .locked: "too many wrong codes in a row; unlock the user"
    }
  }

  /// Forgets a user's failed codes.
  public func unlock(_ user: UserID, by actor: String) async throws(Problem) {
    let event = context.audit(by: actor)("user.unlocked", ["user": user.text])
    let exists = try await context.stored(await context.storage.unlockUser(user.text, audit: event))
    guard exists else { throw Problem(noUser: user.text) }
  }
}
