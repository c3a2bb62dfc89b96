import SignetSystem

/// The user's answer to a notification.
public enum PushAuthAnswer: Sendable, Hashable {
  /// An approval of a notification of kind `default`.
  case approve
  /// The number displayed at the sign-in, for a notification of kind `challenge`.
  case number(String)
  /// An approval after the device has verified its user, for a notification of kind `biometric`.
  ///
  /// The code that creates this value must have verified the user: in Signet that is the library, never the app.
  case approveRecognised
  /// A denial of any notification.
  case deny

  /// The corresponding decision.
  public var decision: PushAuthNotification.Decision { self == .deny ? .denied : .approved }

  /// Validates that a notification accepts this answer.
  ///
  /// - Parameter kind: The kind of the notification.
  /// - Returns: The value of the claim `challengeResponse` if the answer is a number; otherwise `nil`.
  /// - Throws: ``PushAuthFailure/wrongAnswer(reason:)``, ``PushAuthFailure/invalid(_:reason:)``.
  func checked(for kind: PushAuthKind) throws(PushAuthFailure) -> String? {
    switch (self, kind) {
    case (.deny, _), (.approve, .default), (.approveRecognised, .biometric): return nil
    case (.number(let typed), .challenge):
      let typed = typed.trimmed
      guard !typed.isEmpty else { throw .invalid("number", reason: "is empty") }
      guard typed.utf8.count <= 32, typed.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
        throw .invalid("number", reason: "is malformed")
      }
      return typed
    case (_, .challenge): throw .wrongAnswer(reason: "requires the number that the sign-in shows")
    case (_, .biometric): throw .wrongAnswer(reason: "requires that the device recognises its user")
    case (_, .default): throw .wrongAnswer(reason: "requires approval or denial without a number")
    }
  }
}
