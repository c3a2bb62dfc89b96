import SignetVault
public import SignetWire

/// A container that has ended on this device and could not sign that; its operator has to revoke it.
public struct UntoldContainer: Sendable, Hashable {
  /// Whose it was; empty where nothing can be read.
  public let user: String
  /// Where it was good: `host[:port]/domain`; empty where nothing can be read.
  public let server: String
  /// Names it at the server; `nil` for one that a newer version wrote, and where nothing can be read.
  public let serverMadeID: SignetWire.ContainerID?
  /// Whether the device had stored what it says of itself; else somebody has changed the folder, and it may say anything.
  public let isAuthentic: Bool

  init(_ stored: SignetVault.Container) {
    self.init(stored.attributes, isAuthentic: true)
  }

  /// One that was changed from outside.
  ///
  /// - Parameter claims: What the folder says of it; `nil` where that cannot be read.
  init(altered claims: ContainerAttributes?) {
    self.init(
      claims ?? ContainerAttributes(userID: "", server: "", name: "", serverID: ""), isAuthentic: false)
  }

  private init(_ attributes: ContainerAttributes, isAuthentic: Bool) {
    (user, server) = (attributes.userID, attributes.server)
    let facts: ContainerFacts?
    do { facts = try ContainerFacts(parsing: attributes.protocolFacts) } catch { facts = nil }
    serverMadeID = facts?.serverMadeID
    self.isAuthentic = isAuthentic
  }
}
