import SignetSQL

/// The object from which the device of an event is derived.
enum AuditDeviceSource: Hashable, Sendable {
  /// A container, which is on a device.
  case container(ContainerID)
  /// A UAF key, whose device may be known.
  case key(aaid: String, id: [UInt8])
  /// A UAF target, whose device may be known.
  case target(ID<UAFTargetRecord>)
  /// A UAF operation, whose token may have been sent to a target.
  case session(ID<UAFOperationRecord>)
  /// The actor of the event, if that is a device.
  case actor
  /// None, or the event itself names the device.
  case none
}

extension AuditEvent {
  /// The object from which the device of the event is derived.
  ///
  /// There is no `default`, so that a new event must be added to a case.
  var deviceSource: AuditDeviceSource {
    switch self {
    case .activationStaged(_, _, let container?, _, _), .transactionAnswered(_, _, let container?, _):
      .container(container)
    case .containerRenewalAsked(let container), .renewalStaged(_, let container, _, _, _),
      .renewalRefused(_, let container, _), .containerActivated(_, let container),
      .containerRenewed(_, let container, _, _), .containerRefused(_, let container),
      .containerRevoked(let container), .containerDeleted(_, let container, _, _),
      .containerReset(_, let container, _, _), .containerWiped(_, let container, _, _),
      .accountReported(_, let container, _, _, _), .accountReportRefused(_, let container),
      .accountOrdered(let container, _, _, _), .accountOrderDone(_, let container, _, _, _),
      .accountAltered(_, let container), .containerAltered(_, let container),
      .accountPoliciesAttached(let container, _),
      .pushTargetDropped(_, let container, _):
      .container(container)

    case .uafDeregistered(_, _, let aaid, let key), .uafRevoked(_, let aaid, let key),
      .uafReleased(_, let aaid, let key):
      .key(aaid: aaid, id: key)
    case .uafNotAsked(_, _, let target?, _), .uafTargetAdded(_, let target), .uafTargetChanged(let target),
      .uafTargetExpired(let target), .uafTargetRemoved(let target):
      .target(target)
    case .uafTokenAdded(let session, _, _, _), .uafTokenRedeemed(let session, _),
      .uafRegistered(let session, _, _), .uafRegistrationRefused(let session, _, _, _),
      .uafResponseRefused(let session, _, _, _, _), .uafDeregistrationSent(let session, _):
      .session(session)
    case .uafAuthenticated(let answer), .uafQuarantined(let answer, _),
      .uafAuthenticationRefused(let answer, _):
      .session(answer.session)

    // The device would cost a query for each code. It is redundant, because the event names the container, which is on one
    // device permanently.
    case .codeAccepted, .codeRefused, .codesResynchronised, .codesRefused, .tokenVerified, .tokenRefused:
      .none
    case .deviceLocked, .deviceUnlocked, .deviceRevoked, .uafDeviceRemoved: .none

    case .userAdded, .userRenamed, .userSuspended, .userResumed, .userDeleted, .userUnlocked, .userCodeSet,
      .userCodeRemoved,
      .userCodeAccepted, .userCodeRefused, .tokenAdded, .tokenAssigned, .tokenDisabled, .tokenEnabled,
      .tokenRemoved, .activationAdded, .activationStaged, .activationRefused, .transactionAdded,
      .transactionNotAdded, .transactionAccepted, .transactionAnswered, .transactionDenied,
      .transactionReported, .transactionInitiated, .transactionCancelled, .transactionWithdrawn,
      .transactionExpired, .transactionRefused, .transactionAnswerRefused, .pushTargetAdded,
      .pushTargetChanged, .pushTargetRemoved, .pushAuthEnrolment, .pushAuthRegistered,
      .pushAuthDeviceChanged, .pushAuthRemoved, .pushAuthMessage, .pushAuthWrongNumber,
      .pushAuthApproved, .pushAuthDenied, .uafRequested, .uafNotAsked, .keyAdded, .keyRevoked, .clientAdded,
      .clientRevoked, .clientTold, .clientNotTold, .tokensIssued, .signingKeyAdded:
      .actor
    }
  }
}

extension AuditRecord {
  /// The object from which the device of the event is derived.
  fileprivate var deviceSource: AuditDeviceSource {
    guard event.deviceSource == .actor else { return event.deviceSource }
    return switch by {
    case .container(let id): .container(id)
    case .target(let id): .target(id)
    case .key, .client, .user, .app, .local, .server, .conformance, .anyone: .none
    }
  }
}

extension SQLConnection {
  /// Returns the id of the device of an event; `nil` if it is unknown, or if a row that is needed for it was altered.
  ///
  /// A step that accepts a UAF response passes the device of its keys itself: the stored operation has the keys of an
  /// accepted response, and none of a rejected one.
  func device(of record: AuditRecord) throws -> ID<DeviceRecord>? {
    do {
      switch record.deviceSource {
      case .container(let id):
        // The container of a deleted user has no device any more.
        guard let found = try lastContainer(id)?.checked(), !found.device.isEmpty else { return nil }
        return try deviceID(found.installation, of: found.user)
      case .key(let aaid, let id):
        guard let key = try uafCredential(aaid, id) else { return nil }
        return try deviceID(of: key)
      case .target(let id): return try device(ofTarget: id)
      case .session(let id):
        guard let target = try uafOperation(id)?.target else { return nil }
        return try device(ofTarget: target)
      case .actor, .none: return nil
      }
    } catch StorageFailure.altered { return nil }
  }

  /// Returns the id of the user's device with this installation id, even if nothing is bound to it.
  func deviceID(_ installation: String, of user: UserID) throws -> ID<DeviceRecord> {
    try DeviceRecord(of: user, installation, at: 0, rowMAC).id
  }

  /// Returns the id of a key's device; `nil` if it is unknown, or if the key's row was altered.
  func deviceID(of key: UAFCredentialRecord) throws -> ID<DeviceRecord>? {
    guard key.state != .altered, let device = key.device else { return nil }
    return try deviceID(device, of: key.user)
  }

  private func device(ofTarget id: ID<UAFTargetRecord>) throws -> ID<DeviceRecord>? {
    guard let target = try uafTarget(id), let device = target.device else { return nil }
    return try deviceID(device, of: target.user)
  }
}
