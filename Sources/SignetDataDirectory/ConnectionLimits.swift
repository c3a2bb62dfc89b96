import SignetHTTPServer

/// The maximum numbers of simultaneous connections of a server.
package struct ConnectionLimits: Hashable, Sendable {
  /// All connections.
  package var total: Int
  /// Connections from one IPv4 address or one IPv6 /64 network.
  package var perAddress: Int
  /// Connections on which a device waits for news, fewer than `total`; `nil` for half of `total`.
  package var waiting: Int?
  /// Waiting connections from one address, fewer than `perAddress`; `nil` for half of `perAddress`.
  package var waitingPerAddress: Int?

  package init() {
    let limits = ServerLimits()
    (total, perAddress) = (limits.connectionCount, limits.connectionCountPerAddress)
  }
}
