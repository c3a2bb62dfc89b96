import SignetHTTP

/// How many connections a server has at one time.
public struct ConnectionSettings: Hashable, Sendable {
  /// In all.
  public var total: Int
  /// From one IPv4 address or one IPv6 /64 network.
  public var perAddress: Int
  /// Those in which a device waits for something new, fewer than in all; `nil` for half of them.
  public var waiting: Int?
  /// Those of them from one address, fewer than it may have; `nil` for half of them.
  public var waitingPerAddress: Int?

  /// The defaults.
  public init() {
    let limits = ServerLimits()
    (total, perAddress) = (limits.connectionCount, limits.connectionCountPerAddress)
  }
}
