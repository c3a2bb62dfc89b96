/// One user at one server, as the vault shows it without opening anything.
///
/// All of this is authenticated under a key that the hardware keeps: what is shown is what was stored.
package struct Container: Sendable, Hashable, Identifiable {
  /// How far activation has come.
  package enum State: Int64, Sendable, Hashable {
    /// Stored, and the server has not yet said that it knows of it.
    case unconfirmed = 0
    /// In use.
    case active = 1
    /// Of no server: it holds the accounts that were imported. There is at most one.
    case accounts = 2
    /// Of no server of ours: it holds the keys of FIDO UAF. There is at most one.
    case uaf = 3
    /// Of no server of ours: it holds what this device is to servers of UAF. There is at most one.
    case uafDevice = 4

    /// Whether a server of ours knows, or is to know, the container.
    package var isOfServer: Bool { self == .unconfirmed || self == .active }
  }

  /// Its name in this vault.
  package let id: ContainerID
  /// How far activation has come.
  package internal(set) var state: State
  /// When it was made, in milliseconds since 1970-01-01T00:00:00Z.
  package let created: Int64
  /// What is known about it.
  package internal(set) var attributes: ContainerAttributes
}

/// What is known about a container and is no secret.
package struct ContainerAttributes: Sendable, Hashable {
  /// The user at the server.
  package var userID: String
  /// The server and domain: `host[:port]/domain`.
  package var server: String
  /// What the user calls the container.
  package var name: String
  /// What the server calls itself.
  package var serverID: String
  /// How the server is reached.
  package var connection: ConnectionSettings
  /// What the handshake fixed, in the encoding of the protocol layer.
  package var protocolFacts: [UInt8]
  /// Whatever the layer above keeps, in its own encoding.
  package var extra: [UInt8]

  /// Names all attributes.
  package init(
    userID: String, server: String, name: String, serverID: String, connection: ConnectionSettings = .init(),
    protocolFacts: [UInt8] = [], extra: [UInt8] = []
  ) {
    self.userID = userID
    self.server = server
    self.name = name
    self.serverID = serverID
    self.connection = connection
    self.protocolFacts = protocolFacts
    self.extra = extra
  }
}

/// How a server is trusted.
package struct ConnectionSettings: Sendable, Hashable {
  /// Certificate authorities in PEM, instead of the system's; `nil` for the system's.
  package var certificateAuthoritiesPEM: String?
  /// SHA-256 of the subject public key infos of which one must be in the server's chain, 32 bytes each; none means any.
  package var pins: [[UInt8]]

  /// Names both.
  package init(certificateAuthoritiesPEM: String? = nil, pins: [[UInt8]] = []) {
    self.certificateAuthoritiesPEM = certificateAuthoritiesPEM
    self.pins = pins
  }
}

/// Which containers are wanted.
package struct ContainerFilter: Sendable, Hashable {
  /// Only this user's.
  package var userID: String?
  /// Only those at this server and domain: `host[:port]/domain`.
  package var server: String?
  /// Only those in this state.
  package var state: Container.State?

  /// Names the conditions that must all hold; `nil` holds for every container.
  package init(userID: String? = nil, server: String? = nil, state: Container.State? = .active) {
    self.userID = userID
    self.server = server
    self.state = state
  }

  func accepts(_ container: Container) -> Bool {
    (userID == nil || userID == container.attributes.userID)
      && (server == nil || server == container.attributes.server)
      && (state == nil || state == container.state)
  }
}
