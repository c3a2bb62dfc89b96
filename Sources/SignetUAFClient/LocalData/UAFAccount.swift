import SignetSystem

/// A user's account at a UAF server.
public struct UAFAccount: Hashable, Sendable, Comparable {
  /// The user's name, unique on a device across all servers.
  public let username: String
  /// The base URL of the server.
  public let server: String

  /// Creates an account.
  ///
  /// - Parameters:
  ///   - username: The user's name at the server.
  ///   - server: The base URL of the server.
  public init(username: String, server: String) { (self.username, self.server) = (username, server) }

  /// Indicates whether the account belongs to this user; names are compared byte by byte, so look-alike names differ.
  func isOf(_ username: String) -> Bool { self.username.hasSameBytes(as: username) }

  /// Orders accounts by user name, then by server.
  public static func < (left: UAFAccount, right: UAFAccount) -> Bool {
    (left.username, left.server) < (right.username, right.server)
  }
}
