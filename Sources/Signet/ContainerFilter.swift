public import SignetProtocol

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
