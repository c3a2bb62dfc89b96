import SignetSQL

extension Storage {
  /// What is bound to a user's account: the one place that reads authenticators of all kinds.
  ///
  /// The names of authenticator apps are sealed, so that these have none.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - codeAttempts: How many wrong codes in a row lock a token.
  /// - Returns: Devices and authenticators, the oldest first.
  /// - Throws: ``StorageFailure``.
  public func holdings(
    of user: String, codeAttempts: Int
  ) async throws(StorageFailure) -> AccountHoldings {
    try await read { [codes] database in
      let devices = try database.devices(user: user, codes)
      let found =
        try database.containerAuthenticators(of: user, devices)
        + database.uafAuthenticators(of: user, devices, codes)
        + database.pushAppAuthenticators(of: user)
        + database.tokenAuthenticators(of: user, codeAttempts: codeAttempts)
      return AccountHoldings(devices: devices, authenticators: found.sorted { $0.created < $1.created })
    }
  }
}

extension [DeviceRecord] {
  fileprivate func first(called installation: String?) -> DeviceRecord? {
    guard let installation else { return nil }
    return first { $0.installation.utf8.elementsEqual(installation.utf8) }
  }
}

extension SQLConnection {
  fileprivate func containerAuthenticators(
    of user: String, _ devices: [DeviceRecord]
  ) throws -> [AuthenticatorRecord] {
    try containers(of: user).map { container in
      let (state, reason): (AuthenticatorRecord.State, String) =
        switch container.state {
        case .pending: (.pending, "")
        case .active where container.standing == .locked:
          (.suspended, try accountState(of: container.id).reason)
        case .active: (.active, "")
        case .revoked: (.revoked, "")
        case .altered: (.altered, AuditEvent.alteredReason)
        }
      return AuthenticatorRecord(
        id: container.id, kind: .container, device: devices.first(called: container.installation)?.id,
        name: container.name, state: state, reason: reason, created: container.created)
    }
  }

  fileprivate func uafAuthenticators(
    of user: String, _ devices: [DeviceRecord], _ codes: RowCodes
  ) throws -> [AuthenticatorRecord] {
    return try uafCredentials(of: user, codes).map { key in
      let device = devices.first(called: key.device)
      var (state, reason): (AuthenticatorRecord.State, String) =
        switch key.state {
        case .active: (.active, "")
        case .quarantined: (.suspended, "there are two of it")
        case .revoked: (.revoked, "")
        case .altered: (.altered, AuditEvent.alteredReason)
        }
      if state == .active, device?.isAltered == true {
        (state, reason) = (.suspended, "the row of its device was not written by this server")
      } else if state == .active, device?.standing == .locked {
        (state, reason) = (.suspended, "the device is locked")
      }
      return AuthenticatorRecord(
        id: key.authenticator, kind: .uaf, device: device?.id, name: key.aaid,
        state: state, reason: reason, created: key.created)
    }
  }

  fileprivate func pushAppAuthenticators(of user: String) throws -> [AuthenticatorRecord] {
    try pushAuthMechanisms(user: user).map { mechanism in
      let (state, reason): (AuthenticatorRecord.State, String) =
        switch mechanism.state {
        case .open: (.pending, "")
        case .active: (.active, "")
        case .altered: (.altered, AuditEvent.alteredReason)
        }
      return AuthenticatorRecord(
        id: mechanism.id, kind: .pushApp, name: "", state: state, reason: reason, created: mechanism.created)
    }
  }

  /// What makes one-time passwords and is no container.
  fileprivate func tokenAuthenticators(
    of user: String, codeAttempts: Int
  ) throws -> [AuthenticatorRecord] {
    try credentials(of: user).compactMap { token in
      guard let serial = token.serial else { return nil }
      let isLocked = token.failures >= codeAttempts
      let (state, reason): (AuthenticatorRecord.State, String) =
        switch token.state {
        case .altered: (.altered, AuditEvent.alteredReason)
        case _ where isLocked: (.suspended, "too many wrong codes; 'signet-server user unlock' ends that")
        case .pending: (.pending, "")
        case .active: (.active, "")
        case .disabled: (.suspended, "an operator took it out of use")
        }
      return AuthenticatorRecord(
        id: serial, kind: .otp, name: serial, state: state, reason: reason, created: token.created)
    }
  }
}
