public import SignetPolicy
import SignetWire

extension Container {
  /// What opens a key, or the container and all its keys that have no protection of their own.
  ///
  /// - Parameter key: Which key; `nil` for the container.
  /// - Returns: What the server wants; ``Device/protectionInForce(for:key:)`` says what this device makes of it.
  public func protection(of key: Key.Usage?) -> ProtectionPolicy { profile.protection(of: key) }

  /// Whether a key has a protection of its own: another password than the container's, if it has one at all.
  public func hasOwnProtection(_ key: Key.Usage) -> Bool { profile.keys[key.name] != nil }

  /// Where the vault keeps a key.
  func domain(of key: Key.Usage?) -> String { VaultLayout.domain(of: key, in: profile) }

  /// Runs something that may ask for a password; a failure says whose, where it is not the container's.
  func naming<R: ~Copyable>(
    _ key: Key.Usage?, _ body: () async throws(SignetFailure) -> R
  ) async throws(SignetFailure) -> R {
    do throws(SignetFailure) { return try await body() } catch {
      guard let key, hasOwnProtection(key) else { throw error }
      throw error.about(key)
    }
  }
}

extension ContainerProfile {
  func protection(of key: Key.Usage?) -> ProtectionPolicy {
    key.map { protection(of: $0.name) } ?? protection
  }

  /// Who has a protection: the container, and each key with one of its own.
  var protected: [Key.Usage?] {
    [nil] + Key.Usage.allCases.filter { keys[$0.name] != nil }
  }
}
