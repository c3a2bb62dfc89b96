import SignetHTTP

/// How many connections a server has at one time.
package struct ConnectionSettings: Hashable, Sendable {
  /// In all.
  package var total: Int
  /// From one IPv4 address or one IPv6 /64 network.
  package var perAddress: Int
  /// Those in which a device waits for something new, fewer than in all; `nil` for half of them.
  package var waiting: Int?
  /// Those of them from one address, fewer than it may have; `nil` for half of them.
  package var waitingPerAddress: Int?

  /// The defaults.
  package init() {
    let limits = ServerLimits()
    (total, perAddress) = (limits.connectionCount, limits.connectionCountPerAddress)
  }
}
