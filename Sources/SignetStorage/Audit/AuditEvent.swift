import SignetCrypto

/// An event of the audit log.
///
/// No case holds a code, a password, a key or an invite.
///
/// This file defines an event completely: the comment of its case describes it, the values are its members, and ``definition``
/// gives its JSON, its device and the form in which the outbox publishes it. `Scripts/audit-page` makes
/// `docs/audit-events.md` of this file, and `make check` fails for a case that no source file writes or that no test names.
package enum AuditEvent: Hashable, Sendable {
  // MARK: Users

  /// An operator added a user.
  case userAdded(user: UserID)
  /// An operator set or removed the display name of a user.
  case userRenamed(user: UserID)
  /// An operator suspended a user: the server accepts nothing from the user, and pending operations ended.
  case userSuspended(user: UserID, reason: String)
  /// An operator ended the suspension of a user.
  case userResumed(user: UserID)
  /// An operator deleted a user and everything that was bound to the account.
  case userDeleted(user: UserID)
  /// An operator unlocked a user: the counts of wrong codes and wrong signatures, and the waiting times, are reset.
  case userUnlocked(user: UserID)
  /// An operator set a user code, which OpenID Connect clients must send with a request for this user.
  case userCodeSet(user: UserID)
  /// An operator removed a user code.
  case userCodeRemoved(user: UserID)
  /// A client sent the right user code.
  case userCodeAccepted(user: UserID)
  /// A client sent a user code, and the server rejected it.
  case userCodeRefused(user: UserID, UserCodeRefusal)

  // MARK: One-time passwords

  /// The server accepted a one-time password, which cannot be used again.
  case codeAccepted(user: UserID?, CodeSource)
  /// The server rejected a one-time password.
  case codeRefused(user: UserID?, CodeRefusal, locked: [String])
  /// The server accepted two consecutive codes: the credential is unlocked, and its counter is synchronised.
  case codesResynchronised(user: UserID?, CodeSource)
  /// The server rejected two consecutive codes.
  case codesRefused(user: UserID?, CodeRefusal, locked: [String])

  // MARK: Tokens

  /// An operator imported a token.
  case tokenAdded(token: String, user: UserID?)
  /// An operator assigned a token to a user, or unassigned it if there is no user.
  case tokenAssigned(token: String, user: UserID?)
  /// A user verified a token: its first right code was accepted, and the token is in use.
  case tokenVerified(user: UserID?, CodeSource)
  /// The server rejected the first code of a token.
  case tokenRefused(user: UserID?, CodeRefusal, locked: [String])
  /// An operator disabled a token.
  case tokenDisabled(token: String)
  /// An operator enabled a disabled token, which can be verified again.
  case tokenEnabled(token: String)
  /// An operator removed a token and its secret.
  case tokenRemoved(token: String)

  // MARK: Activation and renewal

  /// An operator invited a user's device.
  case activationAdded(user: UserID, activation: ID<ActivationRecord>)
  /// A device proved possession of the invite: its container is pending until the device confirms it.
  case activationStaged(
    user: UserID, activation: ID<ActivationRecord>, container: ContainerID?, keystore: String, keys: String)
  /// The server rejected a device that knows or guesses the user's open invite.
  case activationRefused(user: UserID, activation: ID<ActivationRecord>, ActivationRefusal)
  /// An operator asked a device to renew its container.
  case containerRenewalRequested(container: ContainerID)
  /// A device proved the keys of its container and staged a successor, which is pending until the device confirms it.
  case renewalStaged(
    user: UserID, container: ContainerID, successor: ContainerID?, keystore: String?, keys: String?)
  /// The server rejected a renewal.
  case renewalRefused(user: UserID, container: ContainerID, RenewalRefusal)

  // MARK: Containers

  /// A device confirmed its new container, which is active.
  case containerActivated(user: UserID, container: ContainerID)
  /// A device confirmed the successor of a container: the successor is active, the old container is revoked.
  case containerRenewed(user: UserID, container: ContainerID, renews: ContainerID, renewals: Int)
  /// A device confirmed a container that was no longer pending.
  case containerRefused(user: UserID, container: ContainerID)
  /// An operator revoked a container or its device, or another container of the device replaced it.
  case containerRevoked(container: ContainerID)
  /// The row MAC of a container does not verify, and the server locked the device.
  case containerAltered(user: UserID, container: ContainerID)
  /// A user deleted a container, according to its device.
  case containerDeleted(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)
  /// A user deleted everything on a device, according to the device.
  case containerReset(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)
  /// A device erased a container after too many wrong passwords, according to the device.
  case containerWiped(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)

  // MARK: Devices

  /// An operator locked a device: the server accepts nothing that is bound to it.
  case deviceLocked(user: UserID, device: ID<DeviceRecord>, reason: String)
  /// An operator ended the locks of a device.
  case deviceUnlocked(user: UserID, device: ID<DeviceRecord>)
  /// An operator revoked everything that is bound to a device.
  case deviceRevoked(user: UserID, device: ID<DeviceRecord>)

  // MARK: Account policies

  /// A device reported its properties, and the server evaluated the report.
  case accountReported(
    user: UserID, container: ContainerID, reaction: String, reason: String, policies: [String])
  /// The server rejected a device's report, because it answers no open challenge.
  case accountReportRefused(user: UserID, container: ContainerID)
  /// An operator ordered a device to lock, unlock or wipe its container.
  case accountOrdered(
    container: ContainerID, order: DeviceCommandID, DeviceCommandRecord.Action, reason: String)
  /// A device carried out an order, according to the device.
  case accountOrderDone(
    user: UserID, container: ContainerID, order: DeviceCommandID, DeviceCommandRecord.Action,
    deviceTime: Int64)
  /// The MAC over the stored reports and orders of a container does not verify, and the server locked the container.
  case accountAltered(user: UserID, container: ContainerID)
  /// An operator attached policies to a container, or returned it to the policies of its profile.
  case accountPoliciesAttached(container: ContainerID, policies: [String]?)

  // MARK: Transactions

  /// A transaction was added.
  case transactionAdded(user: UserID?, transaction: TransactionID)
  /// A transaction was not added.
  case transactionNotAdded(user: UserID?, transaction: TransactionID, AdmissionOutcome)
  /// A device signed and sent an approval.
  case transactionAccepted(user: UserID, transaction: TransactionID)
  /// A user approved with digits that the device displays.
  case transactionAnswered(user: UserID, transaction: TransactionID, container: ContainerID?, AnswerKind)
  /// A device signed and sent a denial.
  case transactionDenied(user: UserID, transaction: TransactionID)
  /// A device signed and sent a report of abuse.
  case transactionReported(user: UserID, transaction: TransactionID)
  /// A device signed a transaction that no relying party had asked for.
  case transactionInitiated(user: UserID, transaction: TransactionID)
  /// A device cancelled a transaction without a decision.
  case transactionCancelled(transaction: TransactionID, reason: String)
  /// A transaction was withdrawn: by its relying party, by the revocation of its client, because its user is not active
  /// (`userNotActive`), or because no authenticator of the user can answer it any more (`noAuthenticator`).
  case transactionWithdrawn(transaction: TransactionID, reason: String)
  /// A transaction expired before a decision.
  case transactionExpired(transaction: TransactionID)
  /// The server rejected a decision, a cancellation or a withdrawal.
  case transactionRefused(user: UserID?, transaction: TransactionID, DecisionOutcome)
  /// The server rejected digits that a user typed.
  case transactionAnswerRefused(user: UserID, transaction: TransactionID, AnswerKind, DecisionOutcome)

  // MARK: Push

  /// A device added a push target.
  case pushTargetAdded(target: PushTargetID, service: String)
  /// A device changed a push target; the service is there if the address changed.
  case pushTargetChanged(target: PushTargetID, service: String?)
  /// A device removed a push target.
  case pushTargetRemoved(target: PushTargetID)
  /// The push service reported a push target as unknown, and the server removed it.
  case pushTargetDropped(target: PushTargetID, container: ContainerID, service: String)

  // MARK: Authenticator apps

  /// A relying party requested a URI with which an authenticator app registers.
  case pushAuthEnrolment(user: UserID, mechanism: ID<PushAuthMechanismRecord>, token: String?)
  /// An authenticator app registered.
  case pushAuthRegistered(
    user: UserID, mechanism: ID<PushAuthMechanismRecord>, platform: String, service: String)
  /// An authenticator app changed its push address.
  case pushAuthDeviceChanged(user: UserID, mechanism: ID<PushAuthMechanismRecord>, service: String)
  /// An operator removed an authenticator app.
  case pushAuthRemoved(mechanism: ID<PushAuthMechanismRecord>)
  /// The server created a message with which an authenticator app asks its user about a transaction.
  case pushAuthMessage(
    user: UserID, mechanism: ID<PushAuthMechanismRecord>, message: ID<PushAuthMessageRecord>)
  /// A user chose a wrong number.
  case pushAuthWrongNumber(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)
  /// A user approved a message.
  case pushAuthApproved(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)
  /// A user denied a message.
  case pushAuthDenied(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)

  // MARK: UAF

  /// A caller requested a UAF registration, authentication or deregistration.
  case uafRequested(session: ID<UAFOperationRecord>, operation: String, user: UserID?)
  /// A token for a UAF operation was created.
  case uafTokenAdded(
    session: ID<UAFOperationRecord>, operation: String, user: UserID?, target: ID<UAFTargetRecord>?)
  /// No token was created for a device, because its user is asked too often.
  case uafTokenRefused(user: UserID?, operation: String, target: ID<UAFTargetRecord>?, AdmissionOutcome)
  /// A token for a UAF operation was redeemed.
  case uafTokenRedeemed(session: ID<UAFOperationRecord>, user: UserID?)
  /// Keys were registered.
  case uafRegistered(session: ID<UAFOperationRecord>, user: UserID, keys: String)
  /// The server verified a registration and rejected it.
  case uafRegistrationRefused(session: ID<UAFOperationRecord>, user: UserID, keys: String, reason: String)
  /// Keys authenticated a user.
  case uafAuthenticated(UAFAnswer)
  /// The counter of a key did not grow: the key may have been copied, and is quarantined.
  case uafQuarantined(UAFAnswer, reason: String)
  /// The server verified an authentication and rejected it.
  case uafAuthenticationRefused(UAFAnswer, reason: String)
  /// A response could not be verified, or the client reported a failure.
  case uafResponseRefused(
    session: ID<UAFOperationRecord>, user: UserID?, status: Int, asm: Int?, reason: String)
  /// The server removed keys and instructed the device to remove them too.
  case uafDeregistrationSent(session: ID<UAFOperationRecord>, user: UserID)
  /// A key was removed, by an operator if there is no session.
  case uafDeregistered(session: ID<UAFOperationRecord>?, user: UserID, aaid: String, key: [UInt8])
  /// A key was revoked permanently with its device, or with the container on that device.
  case uafRevoked(user: UserID, aaid: String, key: [UInt8])
  /// An operator released a key from quarantine.
  case uafReleased(user: UserID, aaid: String, key: [UInt8])
  /// A device of a user was added as a target of UAF operations.
  case uafTargetAdded(user: UserID, target: ID<UAFTargetRecord>)
  /// A device changed its name or address as a target of UAF operations.
  case uafTargetChanged(target: ID<UAFTargetRecord>)
  /// The push service reported a target of UAF operations as unknown, and the server removed its address.
  case uafTargetExpired(target: ID<UAFTargetRecord>)
  /// A target of UAF operations was removed.
  case uafTargetRemoved(target: ID<UAFTargetRecord>)
  /// A user's targets and keys on a device were removed.
  case uafDeviceRemoved(user: UserID, device: String)

  // MARK: Relying parties and the server's keys

  /// An operator created an API key.
  case keyAdded(key: ID<APIKeyRecord>, name: String)
  /// An operator revoked an API key.
  case keyRevoked(key: ID<APIKeyRecord>)
  /// An operator registered an OpenID Connect client.
  case clientAdded(client: ID<ClientRecord>, name: String, ClientRecord.Authentication, ClientRecord.Delivery)
  /// An operator revoked an OpenID Connect client.
  case clientRevoked(client: ID<ClientRecord>)
  /// The server notified a client that its request has ended.
  case clientNotified(client: ID<ClientRecord>, transaction: TransactionID)
  /// The server could not notify a client that its request has ended, and does not retry.
  case clientNotNotified(client: ID<ClientRecord>, transaction: TransactionID, reason: String)
  /// A client received tokens.
  case tokensIssued(user: UserID?, transaction: TransactionID)
  /// The server signs with a new key from this event on.
  case signingKeyAdded(key: String, after: String?)
}

extension AuditEvent {
  /// What is known of an event.
  struct Definition {
    /// The name in the log.
    let name: String
    /// The members of the event's JSON.
    let members: Members
    /// The object from which the device of the event is derived.
    let device: AuditDeviceSource
    /// The event for receivers of the outbox; `nil` for none.
    let published: OutboxEvent?

    /// Defines an event.
    ///
    /// Every change has an audit event in its step, so receivers of the outbox learn of changes only from here. The ends of
    /// requests, and the locks of devices, follow from several events; the steps themselves publish them. If a published
    /// event does not name the user, the step looks up the account.
    init(
      _ name: String, _ members: Members, on device: AuditDeviceSource = .actor,
      publishing published: OutboxEvent? = nil
    ) {
      self.name = name
      self.members = members
      self.device = device
      self.published = published
    }
  }

  /// The event's name, members, device and publication: their only definition.
  var definition: Definition {
    switch self {
    case .userAdded(let user): .init("user.added", [.user: user])
    case .userRenamed(let user): .init("user.renamed", [.user: user])
    case .userSuspended(let user, let reason):
      .init(
        "user.suspended", [.user: user, .reason: reason],
        publishing: OutboxEvent(.userSuspended, of: user.text, user: user.text))
    case .userResumed(let user):
      .init(
        "user.resumed", [.user: user], publishing: OutboxEvent(.userResumed, of: user.text, user: user.text))
    case .userDeleted(let user):
      .init(
        "user.deleted", [.user: user], publishing: OutboxEvent(.userDeleted, of: user.text, user: user.text))
    case .userUnlocked(let user): .init("user.unlocked", [.user: user])
    case .userCodeSet(let user): .init("user.codeSet", [.user: user])
    case .userCodeRemoved(let user): .init("user.codeRemoved", [.user: user])
    case .userCodeAccepted(let user): .init("userCode.accepted", [.user: user])
    case .userCodeRefused(let user, let reason):
      .init("userCode.refused", [.user: user, .reason: reason.rawValue])

    // The device of an accepted or rejected code would cost a query for each code. It is redundant, because the event names
    // the container, which is on one device permanently.
    case .codeAccepted(let user, let source):
      .init("code.accepted", [.user: user, .container: source.container, .token: source.token], on: .none)
    case .codeRefused(let user, let reason, let locked):
      .init("code.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)], on: .none)
    case .codesResynchronised(let user, let source):
      .init(
        "codes.resynchronised", [.user: user, .container: source.container, .token: source.token], on: .none)
    case .codesRefused(let user, let reason, let locked):
      .init("codes.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)], on: .none)

    case .tokenAdded(let token, let user): .init("token.added", [.token: token, .user: user])
    // The new user's token counts as bound after its first right code.
    case .tokenAssigned(let token, let user):
      .init(
        "token.assigned", [.token: token, .user: user],
        publishing: Self.change(.authenticatorRevoked, .otp, token, nil))
    case .tokenVerified(let user, let source):
      .init(
        "token.verified", [.user: user, .container: source.container, .token: source.token], on: .none,
        publishing: source.token.map { Self.change(.authenticatorBound, .otp, $0, user) })
    case .tokenRefused(let user, let reason, let locked):
      .init("token.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)], on: .none)
    case .tokenDisabled(let token):
      .init(
        "token.disabled", [.token: token], publishing: Self.change(.authenticatorSuspended, .otp, token, nil))
    case .tokenEnabled(let token): .init("token.enabled", [.token: token])
    case .tokenRemoved(let token):
      .init(
        "token.removed", [.token: token], publishing: Self.change(.authenticatorRevoked, .otp, token, nil))

    case .activationAdded(let user, let id): .init("activation.added", [.user: user, .activation: id])
    case .activationStaged(let user, let id, let container, let keystore, let keys):
      .init(
        "activation.staged",
        [.user: user, .activation: id, .container: container, .keystore: keystore, .keys: keys],
        on: container.map(AuditDeviceSource.container) ?? .actor)
    case .activationRefused(let user, let id, let reason):
      .init(
        "activation.refused",
        [.user: user, .activation: id, .reason: reason.text, .remaining: reason.remaining.map { String($0) }])
    case .containerRenewalRequested(let container):
      .init("container.renewalAsked", [.container: container], on: .container(container))
    case .renewalStaged(let user, let container, let successor, let keystore, let keys):
      .init(
        "renewal.staged",
        [.user: user, .container: container, .successor: successor, .keystore: keystore, .keys: keys],
        on: .container(container))
    case .renewalRefused(let user, let container, let reason):
      .init(
        "renewal.refused", [.user: user, .container: container, .reason: reason.text],
        on: .container(container))

    case .containerActivated(let user, let container):
      .init(
        "container.activated", [.user: user, .container: container], on: .container(container),
        publishing: Self.change(.authenticatorBound, .container, container, user))
    case .containerRenewed(let user, let container, let renews, let renewals):
      .init(
        "container.renewed",
        [.user: user, .container: container, .renews: renews, .renewals: String(renewals)],
        on: .container(container),
        publishing: Self.change(.authenticatorReplaced, .container, container, user))
    case .containerRefused(let user, let container):
      .init("container.refused", [.user: user, .container: container], on: .container(container))
    case .containerRevoked(let container):
      .init(
        "container.revoked", [.container: container], on: .container(container),
        publishing: Self.change(.authenticatorRevoked, .container, container, nil))
    case .containerAltered(let user, let container):
      .init(
        "container.altered", [.user: user, .container: container, .reason: Self.alteredReason],
        on: .container(container))
    case .containerDeleted(let user, let container, let reason, let time):
      .init(
        "container.deleted",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)],
        on: .container(container), publishing: Self.change(.authenticatorRevoked, .container, container, user)
      )
    case .containerReset(let user, let container, let reason, let time):
      .init(
        "container.reset",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)],
        on: .container(container), publishing: Self.change(.authenticatorRevoked, .container, container, user)
      )
    case .containerWiped(let user, let container, let reason, let time):
      .init(
        "container.wiped",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)],
        on: .container(container), publishing: Self.change(.authenticatorRevoked, .container, container, user)
      )

    case .deviceLocked(let user, let device, let reason):
      .init("device.locked", [.user: user, .device: device, .reason: Self.text(reason)], on: .none)
    case .deviceUnlocked(let user, let device):
      .init("device.unlocked", [.user: user, .device: device], on: .none)
    case .deviceRevoked(let user, let device):
      .init(
        "device.revoked", [.user: user, .device: device], on: .none,
        publishing: OutboxEvent(.deviceRevoked, of: device.text, user: user.text))

    case .accountReported(let user, let container, let reaction, let reason, let policies):
      .init(
        "account.reported",
        [
          .user: user, .container: container, .reaction: reaction, .reason: Self.text(reason),
          .policies: Self.list(policies),
        ], on: .container(container))
    case .accountReportRefused(let user, let container):
      .init(
        "account.reportRefused",
        [.user: user, .container: container, .reason: "it answers no open challenge"],
        on: .container(container))
    case .accountOrdered(let container, let order, let action, let reason):
      .init(
        "account.ordered",
        [.container: container, .order: order, .action: action.rawValue, .reason: Self.text(reason)],
        on: .container(container))
    case .accountOrderDone(let user, let container, let order, let action, let time):
      .init(
        "account.orderDone",
        [
          .user: user, .container: container, .order: order, .action: action.rawValue,
          .deviceTime: String(time),
        ], on: .container(container))
    case .accountAltered(let user, let container):
      .init(
        "account.altered", [.user: user, .container: container, .reason: AccountStateRecord.altered.reason],
        on: .container(container))
    case .accountPoliciesAttached(let container, let policies):
      .init(
        "account.policiesAttached",
        [
          .container: container,
          .policies: policies.map { $0.joined(separator: " ") } ?? "those of the profile",
        ], on: .container(container))

    case .transactionAdded(let user, let id): .init("transaction.added", [.user: user, .transaction: id])
    case .transactionNotAdded(let user, let id, let outcome):
      .init("transaction.notAdded", [.user: user, .transaction: id, .reason: outcome.reason])
    case .transactionAccepted(let user, let id):
      .init("transaction.accepted", [.user: user, .transaction: id])
    case .transactionAnswered(let user, let id, let container, let kind):
      .init(
        "transaction.accepted",
        [.user: user, .transaction: id, .container: container, .reason: kind.rawValue],
        on: container.map(AuditDeviceSource.container) ?? .actor)
    case .transactionDenied(let user, let id): .init("transaction.denied", [.user: user, .transaction: id])
    case .transactionReported(let user, let id):
      .init("transaction.reported", [.user: user, .transaction: id])
    case .transactionInitiated(let user, let id):
      .init("transaction.initiated", [.user: user, .transaction: id])
    case .transactionCancelled(let id, let reason):
      .init("transaction.cancelled", [.transaction: id, .reason: Self.text(reason)])
    case .transactionWithdrawn(let id, let reason):
      .init("transaction.withdrawn", [.transaction: id, .reason: Self.text(reason)])
    case .transactionExpired(let id): .init("transaction.expired", [.transaction: id])
    case .transactionRefused(let user, let id, let outcome):
      .init("transaction.refused", [.user: user, .transaction: id, .reason: outcome.reason])
    case .transactionAnswerRefused(let user, let id, let kind, let outcome):
      .init("transaction.refused", [.user: user, .transaction: id, .reason: outcome.reason(ofAnswer: kind)])

    case .pushTargetAdded(let id, let service): .init("push.target.added", [.target: id, .service: service])
    case .pushTargetChanged(let id, let service):
      .init("push.target.changed", [.target: id, .service: service])
    case .pushTargetRemoved(let id): .init("push.target.removed", [.target: id])
    case .pushTargetDropped(let id, let container, let service):
      .init(
        "push.target.dropped", [.target: id, .container: container, .service: service],
        on: .container(container))

    case .pushAuthEnrolment(let user, let mechanism, let token):
      .init("pushauth.enrolment", [.user: user, .mechanism: mechanism, .token: token])
    case .pushAuthRegistered(let user, let mechanism, let platform, let service):
      .init(
        "pushauth.registered", [.user: user, .mechanism: mechanism, .platform: platform, .service: service],
        publishing: Self.change(.authenticatorBound, .pushApp, mechanism, user))
    case .pushAuthDeviceChanged(let user, let mechanism, let service):
      .init("pushauth.deviceChanged", [.user: user, .mechanism: mechanism, .service: service])
    case .pushAuthRemoved(let mechanism):
      .init(
        "pushauth.removed", [.mechanism: mechanism],
        publishing: Self.change(.authenticatorRevoked, .pushApp, mechanism, nil))
    case .pushAuthMessage(let user, let mechanism, let message):
      .init("pushauth.message", [.user: user, .mechanism: mechanism, .message: message])
    case .pushAuthWrongNumber(let user, let message, let transaction):
      .init("pushauth.wrongNumber", [.user: user, .message: message, .transaction: transaction])
    case .pushAuthApproved(let user, let message, let transaction):
      .init("pushauth.approved", [.user: user, .message: message, .transaction: transaction])
    case .pushAuthDenied(let user, let message, let transaction):
      .init("pushauth.denied", [.user: user, .message: message, .transaction: transaction])

    case .uafRequested(let session, let operation, let user):
      .init("uaf.requested", [.session: session, .operation: operation, .user: user])
    case .uafTokenAdded(let session, let operation, let user, let target):
      .init(
        "uaf.tokenAdded", [.session: session, .operation: operation, .user: user, .target: target],
        on: .session(session))
    case .uafTokenRefused(let user, let operation, let target, let outcome):
      .init(
        "uaf.notAsked", [.user: user, .operation: operation, .target: target, .reason: outcome.reason],
        on: target.map(AuditDeviceSource.target) ?? .actor)
    case .uafTokenRedeemed(let session, let user):
      .init("uaf.tokenRedeemed", [.session: session, .user: user], on: .session(session))
    case .uafRegistered(let session, let user, let keys):
      .init(
        "uaf.registered", [.session: session, .user: user, .keys: keys], on: .session(session),
        publishing: Self.change(.authenticatorBound, .uaf, session, user))
    case .uafRegistrationRefused(let session, let user, let keys, let reason):
      .init(
        "uaf.refused", [.session: session, .user: user, .keys: keys, .reason: reason], on: .session(session))
    case .uafAuthenticated(let use):
      .init(
        "uaf.authenticated",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated),
        ], on: .session(use.session))
    case .uafQuarantined(let use, let reason):
      .init(
        "uaf.quarantined",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated), .reason: reason,
        ], on: .session(use.session),
        publishing: Self.change(.authenticatorSuspended, .uaf, use.session, use.user))
    case .uafAuthenticationRefused(let use, let reason):
      .init(
        "uaf.refused",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated), .reason: reason,
        ], on: .session(use.session))
    case .uafResponseRefused(let session, let user, let status, let asm, let reason):
      .init(
        "uaf.refused",
        [
          .session: session, .user: user, .status: String(status), .asm: asm.map { String($0) },
          .reason: reason,
        ], on: .session(session))
    case .uafDeregistrationSent(let session, let user):
      .init(
        "uaf.deregistrationSent", [.session: session, .user: user], on: .session(session),
        publishing: Self.change(.authenticatorRevoked, .uaf, session, user))
    case .uafDeregistered(let session, let user, let aaid, let key):
      .init(
        "uaf.deregistered", [.session: session, .user: user, .aaid: aaid, .key: Base64URL.encode(key)],
        on: .key(aaid: aaid, id: key),
        publishing: Self.change(.authenticatorRevoked, .uaf, Self.name(aaid, key), user))
    case .uafRevoked(let user, let aaid, let key):
      .init(
        "uaf.revoked", [.user: user, .aaid: aaid, .key: Base64URL.encode(key)], on: .key(aaid: aaid, id: key),
        publishing: Self.change(.authenticatorRevoked, .uaf, Self.name(aaid, key), user))
    case .uafReleased(let user, let aaid, let key):
      .init(
        "uaf.released", [.user: user, .aaid: aaid, .key: Base64URL.encode(key)],
        on: .key(aaid: aaid, id: key),
        publishing: Self.change(.authenticatorResumed, .uaf, Self.name(aaid, key), user))
    case .uafTargetAdded(let user, let target):
      .init("uaf.targetAdded", [.user: user, .target: target], on: .target(target))
    case .uafTargetChanged(let target): .init("uaf.targetChanged", [.target: target], on: .target(target))
    case .uafTargetExpired(let target): .init("uaf.targetExpired", [.target: target], on: .target(target))
    case .uafTargetRemoved(let target): .init("uaf.targetRemoved", [.target: target], on: .target(target))
    case .uafDeviceRemoved(let user, let device):
      .init(
        "uaf.deviceRemoved", [.user: user, .device: device], on: .none,
        publishing: Self.change(.authenticatorRevoked, .uaf, device, user))

    case .keyAdded(let key, let name): .init("key.added", [.key: key, .name: name])
    case .keyRevoked(let key): .init("key.revoked", [.key: key])
    case .clientAdded(let client, let name, let authentication, let delivery):
      .init(
        "client.added",
        [
          .client: client, .name: name, .authentication: authentication.rawValue,
          .delivery: delivery.rawValue,
        ])
    case .clientRevoked(let client): .init("client.revoked", [.client: client])
    case .clientNotified(let client, let id): .init("client.told", [.client: client, .transaction: id])
    case .clientNotNotified(let client, let id, let reason):
      .init("client.notTold", [.client: client, .transaction: id, .reason: reason])
    case .tokensIssued(let user, let id): .init("tokens.issued", [.user: user, .transaction: id])
    case .signingKeyAdded(let key, let before): .init("signingKey.added", [.key: key, .after: before])
    }
  }

  /// The event for receivers of the outbox; `nil` for none.
  package var published: OutboxEvent? { definition.published }

  private static func change(
    _ kind: OutboxEvent.Kind, _ authenticator: AuthenticatorRecord.Kind, _ id: some CustomStringConvertible,
    _ user: UserID?
  ) -> OutboxEvent {
    OutboxEvent(kind, of: id.description, user: user?.text, authenticator: authenticator)
  }

  /// Returns the ``AuthenticatorRecord/id`` of a UAF key.
  private static func name(_ aaid: String, _ key: [UInt8]) -> String { "\(aaid)/\(Base64URL.encode(key))" }

  private static func text(_ reason: String) -> String? { reason.isEmpty ? nil : reason }

  private static func list(_ names: [String]) -> String? { text(names.joined(separator: " ")) }
}
