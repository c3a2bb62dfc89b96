import SignetVault
public import SignetWire

/// A container that has ended on this device and could not sign that; its operator has to revoke it.
public struct UntoldContainer: Sendable, Hashable {
  /// Whose it was.
  public let user: String
  /// Where it was good: `host[:port]/domain`.
  public let server: String
  /// Names it at the server; `nil` for one that a newer version wrote.
  public let serverMadeID: ServerMadeID?

  init(_ stored: SignetVault.Container) {
    (user, server) = (stored.attributes.userID, stored.attributes.server)
    let container: Container?
    do { container = try Container(stored) } catch { container = nil }
    serverMadeID = container?.serverMadeID
  }
}
