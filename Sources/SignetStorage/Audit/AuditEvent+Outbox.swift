import SignetCrypto

extension AuditEvent {
  /// The event for receivers of the outbox; `nil` for none.
  ///
  /// Every change has an audit event in its step, so receivers learn of changes only from here. There is no `default`, so
  /// that a new event must be added to a case. The ends of requests, and the locks of devices, follow from several events;
  /// the steps themselves publish them. If the event does not name the user, the step looks up the account.
  package var published: OutboxEvent? {
    switch self {
    case .userSuspended(let user, _): OutboxEvent(.userSuspended, of: user.text, user: user.text)
    case .userResumed(let user): OutboxEvent(.userResumed, of: user.text, user: user.text)
    case .userDeleted(let user): OutboxEvent(.userDeleted, of: user.text, user: user.text)
    case .deviceRevoked(let user, let device): OutboxEvent(.deviceRevoked, of: device.text, user: user.text)

    case .containerActivated(let user, let id): Self.change(.authenticatorBound, .container, id, user)
    case .containerRenewed(let user, let id, _, _): Self.change(.authenticatorReplaced, .container, id, user)
    case .containerRevoked(let id): Self.change(.authenticatorRevoked, .container, id, nil)
    case .containerDeleted(let user, let id, _, _), .containerReset(let user, let id, _, _),
      .containerWiped(let user, let id, _, _):
      Self.change(.authenticatorRevoked, .container, id, user)

    case .tokenVerified(let user, let source):
      source.token.flatMap { Self.change(.authenticatorBound, .otp, $0, user) }
    // The new user's token counts as bound after its first right code.
    case .tokenAssigned(let token, _), .tokenRemoved(let token):
      Self.change(.authenticatorRevoked, .otp, token, nil)
    case .tokenDisabled(let token): Self.change(.authenticatorSuspended, .otp, token, nil)

    case .pushAuthRegistered(let user, let id, _, _): Self.change(.authenticatorBound, .pushApp, id, user)
    case .pushAuthRemoved(let id): Self.change(.authenticatorRevoked, .pushApp, id, nil)

    case .uafRegistered(let session, let user, _): Self.change(.authenticatorBound, .uaf, session, user)
    case .uafQuarantined(let answer, _):
      Self.change(.authenticatorSuspended, .uaf, answer.session, answer.user)
    case .uafReleased(let user, let aaid, let key):
      Self.change(.authenticatorResumed, .uaf, Self.name(aaid, key), user)
    case .uafRevoked(let user, let aaid, let key), .uafDeregistered(_, let user, let aaid, let key):
      Self.change(.authenticatorRevoked, .uaf, Self.name(aaid, key), user)
    case .uafDeregistrationSent(let session, let user):
      Self.change(.authenticatorRevoked, .uaf, session, user)
    case .uafDeviceRemoved(let user, let device): Self.change(.authenticatorRevoked, .uaf, device, user)

    case .userAdded, .userRenamed, .userUnlocked, .userCodeSet, .userCodeRemoved, .userCodeAccepted,
      .userCodeRefused,
      .codeAccepted, .codeRefused, .codesResynchronised, .codesRefused, .tokenAdded, .tokenRefused,
      .tokenEnabled, .activationAdded, .activationStaged, .activationRefused, .containerRenewalAsked,
      .renewalStaged, .renewalRefused, .containerRefused, .containerAltered, .deviceLocked, .deviceUnlocked,
      .accountReported,
      .accountReportRefused, .accountOrdered, .accountOrderDone, .accountAltered,
      .accountPoliciesAttached, .transactionAdded,
      .transactionNotAdded, .transactionAccepted, .transactionAnswered, .transactionDenied,
      .transactionReported, .transactionInitiated, .transactionCancelled, .transactionWithdrawn,
      .transactionExpired, .transactionRefused, .transactionAnswerRefused, .pushTargetAdded,
      .pushTargetChanged, .pushTargetRemoved, .pushTargetDropped, .pushAuthEnrolment, .pushAuthDeviceChanged,
      .pushAuthMessage, .pushAuthWrongNumber, .pushAuthApproved, .pushAuthDenied,
      .uafRequested, .uafTokenAdded, .uafNotAsked, .uafTokenRedeemed, .uafRegistrationRefused,
      .uafAuthenticated, .uafAuthenticationRefused, .uafResponseRefused, .uafTargetAdded, .uafTargetChanged,
      .uafTargetExpired, .uafTargetRemoved, .keyAdded, .keyRevoked, .clientAdded, .clientRevoked, .clientTold,
      .clientNotTold,
      .tokensIssued, .signingKeyAdded:
      nil
    }
  }

  private static func change(
    _ kind: OutboxEvent.Kind, _ authenticator: AuthenticatorRecord.Kind, _ id: some CustomStringConvertible,
    _ user: UserID?
  ) -> OutboxEvent {
    OutboxEvent(kind, of: id.description, user: user?.text, authenticator: authenticator)
  }

  /// Returns the ``AuthenticatorRecord/id`` of a UAF key.
  private static func name(_ aaid: String, _ key: [UInt8]) -> String { "\(aaid)/\(Base64URL.encode(key))" }
}
