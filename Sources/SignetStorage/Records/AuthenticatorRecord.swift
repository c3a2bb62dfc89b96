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
  /// What it is.
  public var kind: Kind
  /// The ``DeviceRecord/id`` of its device; `nil` where that is not known.
  public var device: ID<DeviceRecord>?
  /// What the user calls it, or its model; may be empty.
  public var name: String
  /// What an authenticator app says of its device, the name too, under the server's master key; `nil` for other kinds.
  public var sealedDevice: [UInt8]?
  /// Where it stands.
  public var state: State
  /// Why it is suspended, or that it was altered; may be empty.
  public var reason: String
  /// When it was made, in seconds since 1970.
  public var created: Int64

  /// Describes an authenticator.
  public init(
    id: String, kind: Kind, device: ID<DeviceRecord>? = nil, name: String, sealedDevice: [UInt8]? = nil,
    state: State, reason: String = "", created: Int64
  ) {
    (self.id, self.kind, self.device, self.name) = (id, kind, device, name)
    self.sealedDevice = sealedDevice
    (self.state, self.reason, self.created) = (state, reason, created)
  }
}

/// What is bound to an account, as it was at one moment.
public struct AccountHoldings: Hashable, Sendable {
  /// The devices, oldest first.
  public var devices: [DeviceRecord]
  /// The authenticators of all kinds, oldest first.
  public var authenticators: [AuthenticatorRecord]
}
