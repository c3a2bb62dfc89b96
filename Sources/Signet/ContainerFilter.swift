public import SignetWire

/// Which containers are wanted; a member that is `nil` fits all.
public struct ContainerFilter: Hashable, Sendable {
  /// The user.
  public var user: UserID?
  /// The server.
  public var server: ServerURL?

  /// What the user calls it, to the letter.
  public var name: String?

  /// Names what is wanted.
  public init(user: UserID? = nil, server: ServerURL? = nil, name: String? = nil) {
    (self.user, self.server, self.name) = (user, server, name)
  }
}
