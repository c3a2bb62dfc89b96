/// The vault's data about one user at one server, readable without opening a domain.
///
/// All of this data is authenticated under a key that the hardware protects.
package struct StoredContainer: Sendable, Hashable, Identifiable {
  /// The activation state or special purpose of a container.
  package enum State: Int64, Sendable, Hashable {
    /// Stored, but not yet confirmed by the server.
    case unconfirmed = 0
    /// In use.
    case active = 1
    /// Not related to a server: it holds the imported accounts. There is at most one.
    case accounts = 2
    /// Not related to a Signet server: it holds the keys of FIDO UAF. There is at most one.
    case uaf = 3
    /// Not related to a Signet server: it holds this device's identity for UAF servers. There is at most one.
    case uafDevice = 4

    /// True if the container belongs to a Signet server.
    package var isOfServer: Bool { self == .unconfirmed || self == .active }
  }

  package let id: LocalContainerID
  package internal(set) var state: State
  /// The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  package let created: Int64
  package internal(set) var attributes: ContainerAttributes
}

/// The attributes of a container that are not secret.
package struct ContainerAttributes: Sendable, Hashable {
  /// The user id at the server.
  package var userID: String
  /// The server and domain: `host[:port]/domain`.
  package var server: String
  /// The user's name for the container.
  package var name: String
  /// The server's identifier for itself.
  package var serverID: String
  /// The trust settings for the server's connection.
  package var connection: ServerTrust
  /// The parameters fixed by the handshake, in the encoding of the protocol layer.
  package var protocolParameters: [UInt8]
  /// Extra data of the layer above, in its own encoding.
  package var extra: [UInt8]

  package init(
    userID: String, server: String, name: String, serverID: String, connection: ServerTrust = .init(),
    protocolParameters: [UInt8] = [], extra: [UInt8] = []
  ) {
    self.userID = userID
    self.server = server
    self.name = name
    self.serverID = serverID
    self.connection = connection
    self.protocolParameters = protocolParameters
    self.extra = extra
  }
}

/// The trust settings for a server.
package struct ServerTrust: Sendable, Hashable {
  /// Certificate authorities in PEM that replace the system's; `nil` selects the system's.
  package var certificateAuthoritiesPEM: String?
  /// SHA-256 digests (32 bytes) of subject public key infos, one of which must be in the server's chain; empty accepts any.
  package var pins: [[UInt8]]

  package init(certificateAuthoritiesPEM: String? = nil, pins: [[UInt8]] = []) {
    self.certificateAuthoritiesPEM = certificateAuthoritiesPEM
    self.pins = pins
  }
}

package struct StoredContainerFilter: Sendable, Hashable {
  package var userID: String?
  /// Only containers of this server and domain: `host[:port]/domain`.
  package var server: String?
  package var state: StoredContainer.State?

  /// Creates a filter from conditions that must all hold; `nil` matches every container.
  package init(userID: String? = nil, server: String? = nil, state: StoredContainer.State? = .active) {
    self.userID = userID
    self.server = server
    self.state = state
  }

  func accepts(_ container: StoredContainer) -> Bool {
    (userID == nil || userID == container.attributes.userID)
      && (server == nil || server == container.attributes.server)
      && (state == nil || state == container.state)
  }
}
