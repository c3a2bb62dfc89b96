import SignetCrypto

/// An event of the audit log.
///
/// No case holds a code, a password, a key or an invite.
///
/// A case defines its event completely: the comment describes it, the values are its members, ``named`` gives it its JSON,
/// and ``published`` gives the form in which the outbox publishes it. `Scripts/audit-page` makes `docs/audit-events.md` of
/// this file, and `make check` fails for a case that no source file writes or that no test names.
public enum AuditEvent: Hashable, Sendable {
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
  case containerRenewalAsked(container: ContainerID)
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
  case uafNotAsked(user: UserID?, operation: String, target: ID<UAFTargetRecord>?, AdmissionOutcome)
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
  case clientTold(client: ID<ClientRecord>, transaction: TransactionID)
  /// The server could not notify a client that its request has ended, and does not retry.
  case clientNotTold(client: ID<ClientRecord>, transaction: TransactionID, reason: String)
  /// A client received tokens.
  case tokensIssued(user: UserID?, transaction: TransactionID)
  /// The server signs with a new key from this event on.
  case signingKeyAdded(key: String, after: String?)
}

extension AuditEvent {
  /// The event's name and its members: the only definition of its JSON.
  var named: (name: String, members: Members) {
    switch self {
    case .userAdded(let user): ("user.added", [.user: user])
    case .userRenamed(let user): ("user.renamed", [.user: user])
    case .userSuspended(let user, let reason): ("user.suspended", [.user: user, .reason: reason])
    case .userResumed(let user): ("user.resumed", [.user: user])
    case .userDeleted(let user): ("user.deleted", [.user: user])
    case .userUnlocked(let user): ("user.unlocked", [.user: user])
    case .userCodeSet(let user): ("user.codeSet", [.user: user])
    case .userCodeRemoved(let user): ("user.codeRemoved", [.user: user])
    case .userCodeAccepted(let user): ("userCode.accepted", [.user: user])
    case .userCodeRefused(let user, let reason):
      ("userCode.refused", [.user: user, .reason: reason.rawValue])

    case .codeAccepted(let user, let source):
      ("code.accepted", [.user: user, .container: source.container, .token: source.token])
    case .codeRefused(let user, let reason, let locked):
      ("code.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)])
    case .codesResynchronised(let user, let source):
      ("codes.resynchronised", [.user: user, .container: source.container, .token: source.token])
    case .codesRefused(let user, let reason, let locked):
      ("codes.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)])

    case .tokenAdded(let token, let user): ("token.added", [.token: token, .user: user])
    case .tokenAssigned(let token, let user): ("token.assigned", [.token: token, .user: user])
    case .tokenVerified(let user, let source):
      ("token.verified", [.user: user, .container: source.container, .token: source.token])
    case .tokenRefused(let user, let reason, let locked):
      ("token.refused", [.user: user, .reason: reason.rawValue, .locked: Self.list(locked)])
    case .tokenDisabled(let token): ("token.disabled", [.token: token])
    case .tokenEnabled(let token): ("token.enabled", [.token: token])
    case .tokenRemoved(let token): ("token.removed", [.token: token])

    case .activationAdded(let user, let id): ("activation.added", [.user: user, .activation: id])
    case .activationStaged(let user, let id, let container, let keystore, let keys):
      (
        "activation.staged",
        [.user: user, .activation: id, .container: container, .keystore: keystore, .keys: keys]
      )
    case .activationRefused(let user, let id, let reason):
      (
        "activation.refused",
        [.user: user, .activation: id, .reason: reason.text, .remaining: reason.remaining.map { String($0) }]
      )
    case .containerRenewalAsked(let container): ("container.renewalAsked", [.container: container])
    case .renewalStaged(let user, let container, let successor, let keystore, let keys):
      (
        "renewal.staged",
        [.user: user, .container: container, .successor: successor, .keystore: keystore, .keys: keys]
      )
    case .renewalRefused(let user, let container, let reason):
      ("renewal.refused", [.user: user, .container: container, .reason: reason.text])

    case .containerActivated(let user, let container):
      ("container.activated", [.user: user, .container: container])
    case .containerRenewed(let user, let container, let renews, let renewals):
      (
        "container.renewed",
        [.user: user, .container: container, .renews: renews, .renewals: String(renewals)]
      )
    case .containerRefused(let user, let container):
      ("container.refused", [.user: user, .container: container])
    case .containerRevoked(let container): ("container.revoked", [.container: container])
    case .containerAltered(let user, let container):
      (
        "container.altered",
        [.user: user, .container: container, .reason: Self.alteredReason]
      )
    case .containerDeleted(let user, let container, let reason, let time):
      (
        "container.deleted",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)]
      )
    case .containerReset(let user, let container, let reason, let time):
      (
        "container.reset",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)]
      )
    case .containerWiped(let user, let container, let reason, let time):
      (
        "container.wiped",
        [.user: user, .container: container, .reason: Self.text(reason), .deviceTime: String(time)]
      )

    case .deviceLocked(let user, let device, let reason):
      ("device.locked", [.user: user, .device: device, .reason: Self.text(reason)])
    case .deviceUnlocked(let user, let device): ("device.unlocked", [.user: user, .device: device])
    case .deviceRevoked(let user, let device): ("device.revoked", [.user: user, .device: device])

    case .accountReported(let user, let container, let reaction, let reason, let policies):
      (
        "account.reported",
        [
          .user: user, .container: container, .reaction: reaction, .reason: Self.text(reason),
          .policies: Self.list(policies),
        ]
      )
    case .accountReportRefused(let user, let container):
      (
        "account.reportRefused",
        [.user: user, .container: container, .reason: "it answers no challenge that is open"]
      )
    case .accountOrdered(let container, let order, let action, let reason):
      (
        "account.ordered",
        [.container: container, .order: order, .action: action.rawValue, .reason: Self.text(reason)]
      )
    case .accountOrderDone(let user, let container, let order, let action, let time):
      (
        "account.orderDone",
        [
          .user: user, .container: container, .order: order, .action: action.rawValue,
          .deviceTime: String(time),
        ]
      )
    case .accountAltered(let user, let container):
      (
        "account.altered",
        [.user: user, .container: container, .reason: AccountStateRecord.altered.reason]
      )
    case .accountPoliciesAttached(let container, let policies):
      (
        "account.policiesAttached",
        [
          .container: container,
          .policies: policies.map { $0.joined(separator: " ") } ?? "those of the profile",
        ]
      )

    case .transactionAdded(let user, let id): ("transaction.added", [.user: user, .transaction: id])
    case .transactionNotAdded(let user, let id, let outcome):
      ("transaction.notAdded", [.user: user, .transaction: id, .reason: outcome.reason])
    case .transactionAccepted(let user, let id): ("transaction.accepted", [.user: user, .transaction: id])
    case .transactionAnswered(let user, let id, let container, let kind):
      (
        "transaction.accepted",
        [.user: user, .transaction: id, .container: container, .reason: kind.rawValue]
      )
    case .transactionDenied(let user, let id): ("transaction.denied", [.user: user, .transaction: id])
    case .transactionReported(let user, let id): ("transaction.reported", [.user: user, .transaction: id])
    case .transactionInitiated(let user, let id): ("transaction.initiated", [.user: user, .transaction: id])
    case .transactionCancelled(let id, let reason):
      ("transaction.cancelled", [.transaction: id, .reason: Self.text(reason)])
    case .transactionWithdrawn(let id, let reason):
      ("transaction.withdrawn", [.transaction: id, .reason: Self.text(reason)])
    case .transactionExpired(let id): ("transaction.expired", [.transaction: id])
    case .transactionRefused(let user, let id, let outcome):
      ("transaction.refused", [.user: user, .transaction: id, .reason: outcome.reason])
    case .transactionAnswerRefused(let user, let id, let kind, let outcome):
      ("transaction.refused", [.user: user, .transaction: id, .reason: outcome.reason(ofAnswer: kind)])

    case .pushTargetAdded(let id, let service): ("push.target.added", [.target: id, .service: service])
    case .pushTargetChanged(let id, let service): ("push.target.changed", [.target: id, .service: service])
    case .pushTargetRemoved(let id): ("push.target.removed", [.target: id])
    case .pushTargetDropped(let id, let container, let service):
      ("push.target.dropped", [.target: id, .container: container, .service: service])

    case .pushAuthEnrolment(let user, let mechanism, let token):
      ("pushauth.enrolment", [.user: user, .mechanism: mechanism, .token: token])
    case .pushAuthRegistered(let user, let mechanism, let platform, let service):
      (
        "pushauth.registered",
        [.user: user, .mechanism: mechanism, .platform: platform, .service: service]
      )
    case .pushAuthDeviceChanged(let user, let mechanism, let service):
      ("pushauth.deviceChanged", [.user: user, .mechanism: mechanism, .service: service])
    case .pushAuthRemoved(let mechanism): ("pushauth.removed", [.mechanism: mechanism])
    case .pushAuthMessage(let user, let mechanism, let message):
      ("pushauth.message", [.user: user, .mechanism: mechanism, .message: message])
    case .pushAuthWrongNumber(let user, let message, let transaction):
      ("pushauth.wrongNumber", [.user: user, .message: message, .transaction: transaction])
    case .pushAuthApproved(let user, let message, let transaction):
      ("pushauth.approved", [.user: user, .message: message, .transaction: transaction])
    case .pushAuthDenied(let user, let message, let transaction):
      ("pushauth.denied", [.user: user, .message: message, .transaction: transaction])

    case .uafRequested(let session, let operation, let user):
      ("uaf.requested", [.session: session, .operation: operation, .user: user])
    case .uafTokenAdded(let session, let operation, let user, let target):
      ("uaf.tokenAdded", [.session: session, .operation: operation, .user: user, .target: target])
    case .uafNotAsked(let user, let operation, let target, let outcome):
      (
        "uaf.notAsked",
        [.user: user, .operation: operation, .target: target, .reason: outcome.reason]
      )
    case .uafTokenRedeemed(let session, let user): ("uaf.tokenRedeemed", [.session: session, .user: user])
    case .uafRegistered(let session, let user, let keys):
      ("uaf.registered", [.session: session, .user: user, .keys: keys])
    case .uafRegistrationRefused(let session, let user, let keys, let reason):
      ("uaf.refused", [.session: session, .user: user, .keys: keys, .reason: reason])
    case .uafAuthenticated(let use):
      (
        "uaf.authenticated",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated),
        ]
      )
    case .uafQuarantined(let use, let reason):
      (
        "uaf.quarantined",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated), .reason: reason,
        ]
      )
    case .uafAuthenticationRefused(let use, let reason):
      (
        "uaf.refused",
        [
          .session: use.session, .user: use.user, .keys: use.keys, .transaction: use.transaction,
          .outdated: Self.list(use.outdated), .reason: reason,
        ]
      )
    case .uafResponseRefused(let session, let user, let status, let asm, let reason):
      (
        "uaf.refused",
        [
          .session: session, .user: user, .status: String(status), .asm: asm.map { String($0) },
          .reason: reason,
        ]
      )
    case .uafDeregistrationSent(let session, let user):
      ("uaf.deregistrationSent", [.session: session, .user: user])
    case .uafDeregistered(let session, let user, let aaid, let key):
      ("uaf.deregistered", [.session: session, .user: user, .aaid: aaid, .key: Base64URL.encode(key)])
    case .uafRevoked(let user, let aaid, let key):
      ("uaf.revoked", [.user: user, .aaid: aaid, .key: Base64URL.encode(key)])
    case .uafReleased(let user, let aaid, let key):
      ("uaf.released", [.user: user, .aaid: aaid, .key: Base64URL.encode(key)])
    case .uafTargetAdded(let user, let target): ("uaf.targetAdded", [.user: user, .target: target])
    case .uafTargetChanged(let target): ("uaf.targetChanged", [.target: target])
    case .uafTargetExpired(let target): ("uaf.targetExpired", [.target: target])
    case .uafTargetRemoved(let target): ("uaf.targetRemoved", [.target: target])
    case .uafDeviceRemoved(let user, let device): ("uaf.deviceRemoved", [.user: user, .device: device])

    case .keyAdded(let key, let name): ("key.added", [.key: key, .name: name])
    case .keyRevoked(let key): ("key.revoked", [.key: key])
    case .clientAdded(let client, let name, let authentication, let delivery):
      (
        "client.added",
        [
          .client: client, .name: name, .authentication: authentication.rawValue,
          .delivery: delivery.rawValue,
        ]
      )
    case .clientRevoked(let client): ("client.revoked", [.client: client])
    case .clientTold(let client, let id): ("client.told", [.client: client, .transaction: id])
    case .clientNotTold(let client, let id, let reason):
      ("client.notTold", [.client: client, .transaction: id, .reason: reason])
    case .tokensIssued(let user, let id): ("tokens.issued", [.user: user, .transaction: id])
    case .signingKeyAdded(let key, let before): ("signingKey.added", [.key: key, .after: before])
    }
  }

  private static func text(_ reason: String) -> String? { reason.isEmpty ? nil : reason }

  private static func list(_ names: [String]) -> String? { text(names.joined(separator: " ")) }
}
