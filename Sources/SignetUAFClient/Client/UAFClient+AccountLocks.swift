import SignetProtocol
import SignetSystem

extension UAFClient {
  /// Rejects the use of a user's keys if a container of that user at the same server is locked.
  ///
  /// Otherwise the call counts as a use of the container.
  ///
  /// A UAF key has no lock policies; it depends on the container of the same user. Two servers are the same if their host
  /// and port are equal.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - server: The base URL of the requesting server; `nil` if unknown, then the user's containers at all servers are checked.
  /// - Throws: ``UAFFailure/device(_:)`` with ``SignetError/accountLocked(_:)``.
  func requireUnlocked(_ username: String, at server: String?) async throws(UAFFailure) {
    do throws(SignetError) {
      for container in try await device.containers()
      where container.user.text.hasSameBytes(as: username) && Self.isSame(server, container.server) {
        try await device.requireUnlocked(container)
      }
    } catch { throw .device(error) }
  }

  private static func isSame(_ base: String?, _ server: ServerURL) -> Bool {
    base.map { server.isSameOrigin(as: $0) } ?? true
  }
}

extension UAFOperations {
  /// Rejects an operation if a container of the user is locked, before the user is asked for anything.
  ///
  /// - Throws: ``UAFFailure/device(_:)`` with ``SignetError/accountLocked(_:)``.
  func requireUnlocked(_ account: UAFAccount) async throws(UAFFailure) {
    try await client.requireUnlocked(account.username, at: account.server)
  }
}
