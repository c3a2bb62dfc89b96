import SignetText

/// What the user answers to a notification.
public enum PushAuthAnswer: Sendable, Hashable {
  /// Yes, to a notification that takes no more than that.
  case approve
  /// The number that the screen of the sign-in shows, to one that asks for it.
  case number(String)
  /// Yes, after the device has recognised its user, to one that demands it.
  ///
  /// The one who makes this value has recognised the user: in Signet that is the library, never the app.
  case approveRecognised
  /// No, to any notification.
  case deny

  /// The decision that it is.
  public var decision: PushAuthNotification.Decision { self == .deny ? .denied : .approved }

  /// Checks that a notification is answered in this way.
  ///
  /// - Parameter kind: How the notification is answered.
  /// - Returns: What the claim `challengeResponse` says, where a number is the answer.
  /// - Throws: ``PushAuthFailure/wrongAnswer(reason:)``, ``PushAuthFailure/invalid(_:reason:)``.
  func checked(for kind: PushAuthKind) throws(PushAuthFailure) -> String? {
    switch (self, kind) {
    case (.deny, _), (.approve, .default), (.approveRecognised, .biometric): return nil
    case (.number(let typed), .challenge):
      let typed = typed.trimmed
      guard !typed.isEmpty else { throw .invalid("number", reason: "is empty") }
      guard typed.utf8.count <= 32, typed.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
        throw .invalid("number", reason: "is none")
      }
      return typed
    case (_, .challenge): throw .wrongAnswer(reason: "asks for the number that the sign-in shows")
    case (_, .biometric): throw .wrongAnswer(reason: "asks that the device recognises its user")
    case (_, .default): throw .wrongAnswer(reason: "takes a plain yes or no")
    }
  }
}
