/// An authenticator of any kind that is bound to an account.
package struct AuthenticatorRecord: Hashable, Sendable {
  /// The kind of an authenticator.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A container of the Signet app.
    case container
    /// A key of a UAF authenticator.
    case uaf
    /// The push mechanism of an authenticator app.
    case pushApp = "push-app"
    /// A token or an app that generates one-time passwords.
    case otp
  }

  /// The state of an authenticator.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// It was added, but has not proved itself yet; no other use.
    case pending
    /// In use.
    case active
    /// Disabled until the cause in ``AuthenticatorRecord/reason`` is resolved.
    case suspended
    /// Permanently ended.
    case revoked
    /// The row's MAC does not verify: the server accepts nothing from it.
    case altered
  }

  /// Its id among its kind: for a UAF key the model and the key id with `/` between them, for a token the serial number.
  package var id: String
  /// The stored record of an authenticator, from which its proofs can be derived.
  package enum Source: Hashable, Sendable {
    /// A container, with the server's state of it.
    case container(ContainerRecord, AccountStateRecord)
    /// A key of a UAF authenticator.
    case key(UAFCredentialRecord)
    /// An authenticator app.
    case app(PushAuthMechanismRecord)
    /// A token.
    case token
  }

  /// The stored record.
  package var source: Source
  /// The ``DeviceRecord/id`` of its device; `nil` if that is unknown.
  package var device: ID<DeviceRecord>?
  /// The user's name for it, or its model; empty for an app, whose device name is encrypted under the server's master key.
  package var name: String
  /// The state.
  package var state: State
  /// The reason of a suspension or alteration; may be empty.
  package var reason: String
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// When it last proved something, in seconds since 1970; `nil` for never, or if that is no longer known.
  package var lastUsed: Int64?

  /// The kind.
  package var kind: Kind {
    switch source {
    case .container: .container
    case .key: .uaf
    case .app: .pushApp
    case .token: .otp
    }
  }

  /// Describes an authenticator; the last use of one whose row was altered is ignored.
  package init(
    id: String, of source: Source, device: ID<DeviceRecord>? = nil, name: String, state: State,
    reason: String, created: Int64, lastUsed: Int64?
  ) {
    self.id = id
    self.source = source
    self.device = device
    self.name = name
    self.state = state
    self.reason = reason
    self.created = created
    self.lastUsed = state == .altered ? nil : lastUsed
  }
}

/// Everything that is bound to an account, at one moment.
package struct AccountHoldings: Hashable, Sendable {
  /// The devices, oldest first.
  package var devices: [DeviceRecord]
  /// The authenticators of all kinds, oldest first.
  package var authenticators: [AuthenticatorRecord]

  /// Returns when a device was last seen, in seconds since 1970: its last report, or the last use of an authenticator on it;
  /// `nil` for never.
  package func lastSeen(_ device: ID<DeviceRecord>) -> Int64? {
    authenticators.filter { $0.device == device }.flatMap { [$0.lastUsed, $0.lastReport] }.compactMap(\.self)
      .max()
  }
}

extension AuthenticatorRecord {
  /// When its device last reported, in seconds since 1970; `nil` for never, for a kind that does not report, and for an altered row.
  package var lastReport: Int64? {
    guard state != .altered, case .container(_, let account) = source else { return nil }
    return account.reported
  }
}
