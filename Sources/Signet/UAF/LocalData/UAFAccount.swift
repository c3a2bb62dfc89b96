/// A user of this device at a UAF server.
public struct UAFAccount: Hashable, Sendable, Comparable {
  /// The user's name, which no two servers share on one device.
  public let username: String
  /// The base URL of the server.
  public let server: String

  /// Names an account.
  ///
  /// - Parameters:
  ///   - username: The user's name at the server.
  ///   - server: The base URL of the server.
  public init(username: String, server: String) { (self.username, self.server) = (username, server) }

  /// Whether it is of this user, byte by byte: names that only look alike are of others.
  func isOf(_ username: String) -> Bool { self.username.utf8.elementsEqual(username.utf8) }

  /// By name.
  public static func < (left: UAFAccount, right: UAFAccount) -> Bool {
    (left.username, left.server) < (right.username, right.server)
  }
}
