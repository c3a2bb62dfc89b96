public import SignetWire

/// Which containers are wanted; a member that is `nil` fits all.
public struct ContainerFilter: Hashable, Sendable {
  /// The user.
  public var user: UserID?
  /// The server.
  public var server: ServerURL?

  /// Names what is wanted.
  public init(user: UserID? = nil, server: ServerURL? = nil) { (self.user, self.server) = (user, server) }
}
