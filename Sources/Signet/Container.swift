public import SignetVault
public import SignetWire

/// One user at one server, on this device.
public struct Container: Hashable, Sendable, Identifiable {
  /// Names the container on this device.
  public let id: SignetVault.ContainerID
  /// Names the container at the server.
  public let serverMadeID: SignetWire.ContainerID
  /// Whose it is.
  public let user: UserID
  /// Where it is good.
  public let server: ServerURL
  /// What the user calls it; may be empty.
  public let name: String
  /// When it was made or last renewed, in seconds since 1970.
  public let created: Int64
  /// When it was made first, before all renewals, in seconds since 1970.
  public let firstCreated: Int64
  /// How often it was renewed.
  public let renewals: Int64
  /// What it holds and what protects it.
  public let profile: ContainerProfile
  /// Where the key that signs decisions was made and signs: hardware does not let it out.
  public let signingKeyOrigin: KeystoreKind
  /// Where the key that signs requests was made and signs.
  public let sessionKeyOrigin: KeystoreKind
  /// What its confirmation brings, 32 bytes; `nil` where an earlier version made it.
  let confirmation: [UInt8]?
  /// Whether the server has confirmed it; until then ``Device/finishActivations()`` goes on.
  public let isConfirmed: Bool

  /// When the server first said that it does not know this container any more, in seconds since 1970; `nil` where it knows it, as
  /// far as it has been asked.
  ///
  /// An operator has revoked it, or it was activated elsewhere in its place: it is of no use until the server says otherwise.
  public let unknownToServerSince: Int64?

  /// When what answers first signed with a key to which none that this container knows leads, in seconds since 1970; `nil` where
  /// it does not, as far as it has been asked.
  ///
  /// Somebody else answers, or the operator had to make a key that no earlier one vouches for: ask the operator, and renew then.
  public let otherServerKeySince: Int64?

  /// The keys: one signs decisions, one makes one-time codes, one talks to the server.
  public var keys: [Key] {
    Key.Usage.allCases.map { usage in
      Key(
        usage: usage, label: usage == .oneTimePassword ? profile.otpLabel : usage.name.rawValue,
        container: id, protection: protection(of: usage), hasOwnProtection: hasOwnProtection(usage),
        origin: origin(of: usage))
    }
  }

  private func origin(of key: Key.Usage) -> KeystoreKind {
    switch key {
    case .transactionSigning: signingKeyOrigin
    case .oneTimePassword: .software
    case .sessionTransport: sessionKeyOrigin
    }
  }
}
