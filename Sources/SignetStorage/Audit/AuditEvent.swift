import SignetCrypto

/// What the audit log records.
///
/// No case holds a code, a password, a key or an invite.
///
/// A case is the one place where an event is defined: its comment describes it, its values are the members, ``named`` gives it its
/// JSON, and ``published`` says what receivers of the outbox hear of it. `Scripts/audit-page` makes `docs/audit-events.md` of this
/// file, and `make check` fails for a case that no source file writes or that no test names.
public enum AuditEvent: Hashable, Sendable {
  // MARK: Users

  /// An operator added a user.
  case userAdded(user: UserID)
  /// An operator gave a user another display name, or took it away.
  case userRenamed(user: UserID)
  /// An operator suspended a user: nothing of the user is accepted, and what was under way ended.
  case userSuspended(user: UserID, reason: String)
  /// An operator let a suspended user go on.
  case userResumed(user: UserID)
  /// An operator deleted a user, and all that was bound to the account.
  case userDeleted(user: UserID)
  /// An operator unlocked a user: wrong codes, wrong signatures and waits are forgotten.
  case userUnlocked(user: UserID)
  /// An operator gave a user a code without which no client of OpenID Connect may ask.
  case userCodeSet(user: UserID)
  /// An operator removed a user's code.
  case userCodeRemoved(user: UserID)
  /// A client sent the right code of a user.
  case userCodeAccepted(user: UserID)
  /// A client sent a user's code, and it was refused.
  case userCodeRefused(user: UserID, UserCodeRefusal)

  // MARK: One-time passwords

  /// A one-time password was accepted, and is used up.
  case codeAccepted(user: UserID?, CodeSource)
  /// A one-time password was refused.
  case codeRefused(user: UserID?, CodeRefusal, locked: [String])
  /// Two codes in a row were accepted: the credential is unlocked, and the server knows its counter again.
  case codesResynchronised(user: UserID?, CodeSource)
  /// Two codes in a row were refused.
  case codesRefused(user: UserID?, CodeRefusal, locked: [String])

  // MARK: Tokens

  /// An operator imported a token.
  case tokenAdded(token: String, user: UserID?)
  /// An operator gave a token to a user, or took it back if there is no user.
  case tokenAssigned(token: String, user: UserID?)
  /// A token was taken into use by its first right code.
  case tokenVerified(user: UserID?, CodeSource)
  /// The first code of a token was refused.
  case tokenRefused(user: UserID?, CodeRefusal, locked: [String])
  /// An operator took a token out of use.
  case tokenDisabled(token: String)
  /// An operator let a token be verified again.
  case tokenEnabled(token: String)
  /// An operator removed a token and its secret.
  case tokenRemoved(token: String)

  // MARK: Activation and renewal

  /// An operator invited a user's device.
  case activationAdded(user: UserID, activation: ID<ActivationRecord>)
  /// A device proved the invite: its container is pending until the device confirms it.
  case activationStaged(
    user: UserID, activation: ID<ActivationRecord>, container: ContainerID?, keystore: String, keys: String)
  /// A device that knows the user's open invite, or guesses it, was refused.
  case activationRefused(user: UserID, activation: ID<ActivationRecord>, ActivationRefusal)
  /// An operator asked a device to renew its container.
  case containerRenewalAsked(container: ContainerID)
  /// The keys of a container proved its successor, which is pending until the device confirms it.
  case renewalStaged(
    user: UserID, container: ContainerID, successor: ContainerID?, keystore: String?, keys: String?)
  /// A renewal was refused.
  case renewalRefused(user: UserID, container: ContainerID, RenewalRefusal)

  // MARK: Containers

  /// A device confirmed its new container, which is active.
  case containerActivated(user: UserID, container: ContainerID)
  /// A device confirmed the successor of a container: the successor is active, the other one is revoked.
  case containerRenewed(user: UserID, container: ContainerID, renews: ContainerID, renewals: Int)
  /// A device confirmed a container that is not pending any more.
  case containerRefused(user: UserID, container: ContainerID)
  /// An operator revoked a container or its device, or another container of the device took its place.
  case containerRevoked(container: ContainerID)
  /// The server found that it has not written a container's row, and locked the device.
  case containerAltered(user: UserID, container: ContainerID)
  /// A user deleted a container, as its device says.
  case containerDeleted(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)
  /// A user deleted everything on a device, as the device says.
  case containerReset(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)
  /// A device erased a container after too many wrong passwords, as it says.
  case containerWiped(user: UserID, container: ContainerID, reason: String, deviceTime: Int64)

  // MARK: Devices

  /// An operator locked a device: nothing of what is bound to it is accepted.
  case deviceLocked(user: UserID, device: ID<DeviceRecord>, reason: String)
  /// An operator ended the locks of a device.
  case deviceUnlocked(user: UserID, device: ID<DeviceRecord>)
  /// An operator revoked all that is bound to a device.
  case deviceRevoked(user: UserID, device: ID<DeviceRecord>)

  // MARK: Account policies

  /// A device reported what it is like, and the server weighed it.
  case accountReported(
    user: UserID, container: ContainerID, reaction: String, reason: String, policies: [String])
  /// A device's report was refused: it answers no challenge that is open.
  case accountReportRefused(user: UserID, container: ContainerID)
  /// An operator ordered a device to lock, unlock or wipe its container.
  case accountOrdered(
    container: ContainerID, order: DeviceCommandID, DeviceCommandRecord.Action, reason: String)
  /// A device did what was ordered, as it says.
  case accountOrderDone(
    user: UserID, container: ContainerID, order: DeviceCommandID, DeviceCommandRecord.Action,
    deviceTime: Int64)
  /// The server found that it has not written what it keeps of a device's reports and orders, and locked the container.
  case accountAltered(user: UserID, container: ContainerID)
  /// An operator attached policies to a container, or made it go by those of its profile again.
  case accountPoliciesAttached(container: ContainerID, policies: [String]?)

  // MARK: Transactions

  /// A transaction was made.
  case transactionAdded(user: UserID?, transaction: TransactionID)
  /// A transaction was not made.
  case transactionNotAdded(user: UserID?, transaction: TransactionID, AdmissionOutcome)
  /// A device signed and sent an approval.
  case transactionAccepted(user: UserID, transaction: TransactionID)
  /// A user approved by digits that the device shows.
  case transactionAnswered(user: UserID, transaction: TransactionID, container: ContainerID?, AnswerKind)
  /// A device signed and sent a denial.
  case transactionDenied(user: UserID, transaction: TransactionID)
  /// A device signed and sent a report of abuse.
  case transactionReported(user: UserID, transaction: TransactionID)
  /// A device signed a transaction unasked.
  case transactionInitiated(user: UserID, transaction: TransactionID)
  /// A device cancelled a transaction without a decision.
  case transactionCancelled(transaction: TransactionID, reason: String)
  /// A relying party withdrew a transaction, or an operator revoked its client; or it ended because its user is not active
  /// (`userNotActive`), or because nothing of the user's could answer it any more (`noAuthenticator`).
  case transactionWithdrawn(transaction: TransactionID, reason: String)
  /// The time of a transaction ended before anybody decided.
  case transactionExpired(transaction: TransactionID)
  /// A decision, a cancellation or a withdrawal was refused.
  case transactionRefused(user: UserID?, transaction: TransactionID, DecisionOutcome)
  /// Digits that a user typed were refused.
  case transactionAnswerRefused(user: UserID, transaction: TransactionID, AnswerKind, DecisionOutcome)

  // MARK: Push

  /// A device added a target of pushes.
  case pushTargetAdded(target: PushTargetID, service: String)
  /// A device changed a target of pushes; the service is there if the address was changed.
  case pushTargetChanged(target: PushTargetID, service: String?)
  /// A device removed a target of pushes.
  case pushTargetRemoved(target: PushTargetID)
  /// The push service does not know a target any more, and the server forgot it.
  case pushTargetDropped(target: PushTargetID, container: ContainerID, service: String)

  // MARK: Authenticator apps

  /// A relying party made a URI with which an authenticator app registers.
  case pushAuthEnrolment(user: UserID, mechanism: ID<PushAuthMechanismRecord>, token: String?)
  /// An authenticator app registered.
  case pushAuthRegistered(
    user: UserID, mechanism: ID<PushAuthMechanismRecord>, platform: String, service: String)
  /// An authenticator app said where it gets pushes from now on.
  case pushAuthDeviceChanged(user: UserID, mechanism: ID<PushAuthMechanismRecord>, service: String)
  /// An operator removed an authenticator app.
  case pushAuthRemoved(mechanism: ID<PushAuthMechanismRecord>)
  /// A message was made for an authenticator app, by which its user is asked a transaction.
  case pushAuthMessage(
    user: UserID, mechanism: ID<PushAuthMechanismRecord>, message: ID<PushAuthMessageRecord>)
  /// A user chose a wrong number.
  case pushAuthWrongNumber(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)
  /// A user approved a message.
  case pushAuthApproved(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)
  /// A user denied a message.
  case pushAuthDenied(user: UserID, message: ID<PushAuthMessageRecord>, transaction: TransactionID)

  // MARK: UAF

  /// Somebody asked for a registration, authentication or deregistration by UAF.
  case uafRequested(session: ID<UAFOperationRecord>, operation: String, user: UserID?)
  /// A token for a UAF operation was made.
  case uafTokenAdded(
    session: ID<UAFOperationRecord>, operation: String, user: UserID?, target: ID<UAFTargetRecord>?)
  /// A token was not made for a device: its user is asked too often.
  case uafNotAsked(user: UserID?, operation: String, target: ID<UAFTargetRecord>?, AdmissionOutcome)
  /// A token for a UAF operation was redeemed.
  case uafTokenRedeemed(session: ID<UAFOperationRecord>, user: UserID?)
  /// Keys were registered.
  case uafRegistered(session: ID<UAFOperationRecord>, user: UserID, keys: String)
  /// A registration was verified, and refused.
  case uafRegistrationRefused(session: ID<UAFOperationRecord>, user: UserID, keys: String, reason: String)
  /// Keys authenticated a user.
  case uafAuthenticated(UAFAnswer)
  /// A key's counter did not grow: the key was copied, and is in quarantine.
  case uafQuarantined(UAFAnswer, reason: String)
  /// An authentication was verified, and refused.
  case uafAuthenticationRefused(UAFAnswer, reason: String)
  /// A response could not be verified, or the client says that it failed.
  case uafResponseRefused(
    session: ID<UAFOperationRecord>, user: UserID?, status: Int, asm: Int?, reason: String)
  /// A device was told to remove keys, which the server has removed.
  case uafDeregistrationSent(session: ID<UAFOperationRecord>, user: UserID)
  /// A key was removed, by an operator if there is no session.
  case uafDeregistered(session: ID<UAFOperationRecord>?, user: UserID, aaid: String, key: [UInt8])
  /// A key was revoked with its device, or with the container there, for good.
  case uafRevoked(user: UserID, aaid: String, key: [UInt8])
  /// An operator took a key out of quarantine.
  case uafReleased(user: UserID, aaid: String, key: [UInt8])
  /// A device of a user was added as a target of UAF operations.
  case uafTargetAdded(user: UserID, target: ID<UAFTargetRecord>)
  /// A device changed its name or address as a target of UAF operations.
  case uafTargetChanged(target: ID<UAFTargetRecord>)
  /// The push service does not know a target of UAF operations any more, and the server forgot its address.
  case uafTargetExpired(target: ID<UAFTargetRecord>)
  /// A target of UAF operations was removed.
  case uafTargetRemoved(target: ID<UAFTargetRecord>)
  /// A user's targets and keys on a device were removed.
  case uafDeviceRemoved(user: UserID, device: String)

  // MARK: Relying parties and the server's keys

  /// An operator made an API key.
  case keyAdded(key: ID<APIKeyRecord>, name: String)
  /// An operator revoked an API key.
  case keyRevoked(key: ID<APIKeyRecord>)
  /// An operator registered a client of OpenID Connect.
  case clientAdded(client: ID<ClientRecord>, name: String, ClientRecord.Authentication, ClientRecord.Delivery)
  /// An operator revoked a client of OpenID Connect.
  case clientRevoked(client: ID<ClientRecord>)
  /// A client was told that its request has ended.
  case clientTold(client: ID<ClientRecord>, transaction: TransactionID)
  /// A client could not be told that its request has ended, and is not tried again.
  case clientNotTold(client: ID<ClientRecord>, transaction: TransactionID, reason: String)
  /// A client got tokens.
  case tokensIssued(user: UserID?, transaction: TransactionID)
  /// The server signs with a new key from now on.
  case signingKeyAdded(key: String, after: String?)
}

extension AuditEvent {
  /// The event's name and its members: the one place that gives an event its JSON.
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
    case .userCodeRefused(let user, let why): ("userCode.refused", [.user: user, .reason: why.rawValue])

    case .codeAccepted(let user, let source):
      ("code.accepted", [.user: user, .container: source.container, .token: source.token])
    case .codeRefused(let user, let why, let locked):
      ("code.refused", [.user: user, .reason: why.rawValue, .locked: Self.list(locked)])
    case .codesResynchronised(let user, let source):
      ("codes.resynchronised", [.user: user, .container: source.container, .token: source.token])
    case .codesRefused(let user, let why, let locked):
      ("codes.refused", [.user: user, .reason: why.rawValue, .locked: Self.list(locked)])

    case .tokenAdded(let token, let user): ("token.added", [.token: token, .user: user])
    case .tokenAssigned(let token, let user): ("token.assigned", [.token: token, .user: user])
    case .tokenVerified(let user, let source):
      ("token.verified", [.user: user, .container: source.container, .token: source.token])
    case .tokenRefused(let user, let why, let locked):
      ("token.refused", [.user: user, .reason: why.rawValue, .locked: Self.list(locked)])
    case .tokenDisabled(let token): ("token.disabled", [.token: token])
    case .tokenEnabled(let token): ("token.enabled", [.token: token])
    case .tokenRemoved(let token): ("token.removed", [.token: token])

    case .activationAdded(let user, let id): ("activation.added", [.user: user, .activation: id])
    case .activationStaged(let user, let id, let container, let keystore, let keys):
      (
        "activation.staged",
        [.user: user, .activation: id, .container: container, .keystore: keystore, .keys: keys]
      )
    case .activationRefused(let user, let id, let why):
      (
        "activation.refused",
        [.user: user, .activation: id, .reason: why.text, .remaining: why.remaining.map { String($0) }]
      )
    case .containerRenewalAsked(let container): ("container.renewalAsked", [.container: container])
    case .renewalStaged(let user, let container, let successor, let keystore, let keys):
      (
        "renewal.staged",
        [.user: user, .container: container, .successor: successor, .keystore: keystore, .keys: keys]
      )
    case .renewalRefused(let user, let container, let why):
      ("renewal.refused", [.user: user, .container: container, .reason: why.text])

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
