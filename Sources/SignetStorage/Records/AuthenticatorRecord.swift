/// Anything bound to an account that proves something, of whatever kind.
public struct AuthenticatorRecord: Hashable, Sendable {
  /// What it is.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A container of our own app.
    case container
    /// A key of a UAF authenticator.
    case uaf
    /// The push mechanism of an authenticator app.
    case pushApp = "push-app"
    /// A token, or an app, that makes one-time passwords.
    case otp
  }

  /// Where an authenticator stands.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It was made, and has not proved itself yet: good for nothing else.
    case pending
    /// In use.
    case active
    /// Out of use until something is set right: ``AuthenticatorRecord/reason`` says what.
    case suspended
    /// Ended for good.
    case revoked
    /// Its row is not as the server wrote it: nothing of it is accepted.
    case altered
  }

  /// Names it among its kind: of a UAF key the model and the key's name with `/` between them, of a token the serial number.
  public var id: String
  /// What it is, with what the server keeps of it that says what it can prove.
  public enum Source: Hashable, Sendable {
    /// A container, with how the server stands to it.
    case container(ContainerRecord, AccountStateRecord)
    /// A key of a UAF authenticator.
    case key(UAFCredentialRecord)
    /// An authenticator app.
    case app(PushAuthMechanismRecord)
    /// A token.
    case token
  }

  /// What it is, with what is kept of it.
  public var source: Source
  /// The ``DeviceRecord/id`` of its device; `nil` where that is not known.
  public var device: ID<DeviceRecord>?
  /// What the user calls it, or its model; may be empty, and is of an app, whose device has a name under the server's master key.
  public var name: String
  /// Where it stands.
  public var state: State
  /// Why it is suspended, or that it was altered; may be empty.
  public var reason: String
  /// When it was made, in seconds since 1970.
  public var created: Int64
  /// When it last proved something, in seconds since 1970; `nil` for never, and where that is not known any more.
  public var lastUsed: Int64?

  /// What it is.
  public var kind: Kind {
    switch source {
    case .container: .container
    case .key: .uaf
    case .app: .pushApp
    case .token: .otp
    }
  }

  /// Describes an authenticator; of one whose row was altered no use is known.
  package init(
    id: String, of source: Source, device: ID<DeviceRecord>? = nil, name: String, state: State,
    reason: String, created: Int64, lastUsed: Int64?
  ) {
    (self.id, self.source, self.device, self.name) = (id, source, device, name)
    (self.state, self.reason, self.created) = (state, reason, created)
    self.lastUsed = state == .altered ? nil : lastUsed
  }
}

/// What is bound to an account, as it was at one moment.
public struct AccountHoldings: Hashable, Sendable {
  /// The devices, oldest first.
  public var devices: [DeviceRecord]
  /// The authenticators of all kinds, oldest first.
  public var authenticators: [AuthenticatorRecord]

  /// When a device was last heard of, in seconds since 1970: its last report, or the last use of what is on it; `nil` for never.
  public func lastSeen(_ device: ID<DeviceRecord>) -> Int64? {
    authenticators.filter { $0.device == device }.flatMap { [$0.lastUsed, $0.lastReport] }.compactMap(\.self)
      .max()
  }
}

extension AuthenticatorRecord {
  /// When its device last reported, in seconds since 1970; `nil` for never, for what does not report, and for an altered row.
  public var lastReport: Int64? {
    guard state != .altered, case .container(_, let account) = source else { return nil }
    return account.reported
  }
}
