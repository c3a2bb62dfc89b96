public import SignetProtocol
public import SignetVault

/// The keys of one user at one server, on this device.
public struct Container: Hashable, Sendable, Identifiable {
  /// The container's ID on this device.
  public let id: LocalContainerID
  /// The container's ID at the server.
  public let serverContainerID: ContainerID
  /// The user.
  public let user: UserID
  /// The server.
  public let server: ServerURL
  /// The user's name for the container; may be empty.
  public let name: String
  /// The time of creation or of the last renewal, in seconds since 1970.
  public let created: Int64
  /// The time of the first creation, before all renewals, in seconds since 1970.
  public let firstCreated: Int64
  /// The number of renewals.
  public let renewals: Int64
  /// The keys, their parameters and their protection policies.
  public let profile: ContainerProfile
  /// The keystore that made and uses the key for decisions; hardware never releases it.
  public let signingKeyOrigin: KeystoreKind
  /// The keystore that made and uses the key for requests.
  public let sessionKeyOrigin: KeystoreKind
  /// The 32 bytes that *confirm* sends; `nil` for a container of an earlier version.
  let confirmation: [UInt8]?
  /// Indicates whether the server has confirmed it; ``Device/finishActivations()`` continues an unconfirmed one.
  public let isConfirmed: Bool

  /// The time since when the server answers that it does not know this container, in seconds since 1970; `nil` if it
  /// knows it or was not asked.
  ///
  /// An operator has revoked the container, or another activation has replaced it. It cannot be used unless the server's answer changes.
  public let unknownToServerSince: Int64?

  /// The time since when answers are signed with an unknown key that no known key vouches for, in seconds since 1970;
  /// `nil` if no such answer came or a later one was verified.
  ///
  /// Another party answers, or the operator had to create a key without a link to an earlier one. Ask the operator, then renew.
  public let otherServerKeySince: Int64?

  /// The three keys: for decisions, for one-time codes and for requests to the server.
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

/// A filter for containers; a member that is `nil` matches all.
public struct ContainerFilter: Hashable, Sendable {
  /// The user.
  public var user: UserID?
  /// The server.
  public var server: ServerURL?

  /// The user's name for the container, compared byte by byte.
  public var name: String?

  /// Creates a filter.
  public init(user: UserID? = nil, server: ServerURL? = nil, name: String? = nil) {
    self.user = user
    self.server = server
    self.name = name
  }
}
