package import SignetCrypto
import Synchronization

/// The key of one app text, which is a blob or a stream.
///
/// The session that made the key revokes it when the session is locked.
public final class AppDataKey: Sendable {
  /// The salt that makes the key unique to this text: 32 random bytes, also stored in the text's header.
  public let salt: [UInt8]
  private let state: Mutex<State>

  private struct State: ~Copyable {
    var key: SecretBytes?
    var reason = LockReason.requested
  }

  /// Consumes a key of 32 bytes.
  package init(_ key: consuming SecretBytes, salt: [UInt8]) {
    self.salt = salt
    state = Mutex(State(key: key))
  }

  /// Wipes the key; unfinished operations fail from then on.
  package func revoke(because reason: LockReason) {
    state.withLock { state in
      state.key = nil
      state.reason = reason
    }
  }

  /// Lends the key to `body`.
  ///
  /// - Throws: ``AppDataFailure/locked(_:)`` after the key was revoked, and any error of `body`.
  package func withKey<Result>(
    _ body: (borrowing SecretBytes) throws(AppDataFailure) -> Result
  ) throws(AppDataFailure) -> Result {
    try state.withLock { state throws(AppDataFailure) in
      switch state.key {
      case .some(let key): try body(key)
      case .none: throw .locked(state.reason)
      }
    }
  }
}

/// The key of an app group, from which the keys of its texts are derived.
package struct AppDataGroupKey: ~Copyable, Sendable {
  private let key: SecretBytes

  /// The bytes that a group's key is derived from.
  package static let rootByteCount = 32

  /// Consumes a group key of 32 bytes that was derived before.
  package init(_ key: consuming SecretBytes) { self.key = key }

  /// Derives a group's key.
  ///
  /// - Parameters:
  ///   - root: The container's secret for app data, ``rootByteCount`` bytes.
  ///   - group: The name of the group.
  package init(root: borrowing SecretBytes, group: AppGroup) {
    var info = CanonicalBytes("signet app data group v1")
    info.append(group.name)
    key = HKDF.derive(inputKey: root, salt: [], info: info.bytes, byteCount: 32, .sha256)
  }

  /// The key of a new text.
  package borrowing func newKey(
    label: String, random: some RandomSource = SystemRandomSource()
  ) throws(AppDataFailure) -> AppDataKey {
    try textKey(label: label, salt: random.bytes(AppDataFormat.saltByteCount))
  }

  /// The key of the text whose header has this salt.
  package borrowing func textKey(label: String, salt: [UInt8]) throws(AppDataFailure) -> AppDataKey {
    guard (1...256).contains(label.utf8.count) else { throw .invalidLabel }
    guard salt.count == AppDataFormat.saltByteCount else { throw .notAppData }
    var info = CanonicalBytes("signet app data v1")
    info.append(label)
    return AppDataKey(
      HKDF.derive(inputKey: key, salt: salt, info: info.bytes, byteCount: 32, .sha256), salt: salt)
  }
}

/// A group of apps that share a session and its data; other groups have no access to either.
public struct AppGroup: Sendable, Hashable, CustomStringConvertible {
  /// The name of the group: 1 to 64 visible ASCII characters.
  public let name: String

  /// Creates a group; returns `nil` unless the name has 1 to 64 visible ASCII characters.
  public init?(_ name: String) {
    guard DomainID.isName(name) else { return nil }
    self.name = name
  }

  private init(unchecked name: String) { self.name = name }

  /// The group of apps that specify none.
  public static let standard = AppGroup(unchecked: "default")

  /// The name of the group.
  public var description: String { name }
}
