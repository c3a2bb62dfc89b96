public import SignetPolicy
import SignetProtocol

extension Container {
  /// Returns the protection policy of a key, or of the container with all keys that have no separate one.
  ///
  /// - Parameter key: The key; `nil` for the container.
  /// - Returns: The server's policy; ``Device/protectionInForce(for:key:)`` returns the one in force on this device.
  public func protection(of key: Key.Usage?) -> ProtectionPolicy { profile.protection(of: key) }

  /// Returns whether a key has a separate protection, with another password than the container's if it has one.
  public func hasOwnProtection(_ key: Key.Usage) -> Bool { profile.keys[key.name] != nil }

  /// The vault domain of a key.
  func domain(of key: Key.Usage?) -> String { VaultLayout.domain(of: key, in: profile) }

  /// Runs an operation that may need a password; a failure names the key if the key has a separate protection.
  func naming<R: ~Copyable>(
    _ key: Key.Usage?, _ body: () async throws(SignetError) -> R
  ) async throws(SignetError) -> R {
    do throws(SignetError) { return try await body() } catch {
      guard let key, hasOwnProtection(key) else { throw error }
      throw error.about(key)
    }
  }
}

extension ContainerProfile {
  func protection(of key: Key.Usage?) -> ProtectionPolicy {
    key.map { protection(of: $0.name) } ?? protection
  }

  /// The subjects with a protection policy: the container (`nil`), and each key with a separate one.
  var protected: [Key.Usage?] {
    [nil] + Key.Usage.allCases.filter { keys[$0.name] != nil }
  }
}
