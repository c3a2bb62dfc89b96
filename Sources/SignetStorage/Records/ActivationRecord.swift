/// An activation: an invite that may become a container, once.
public struct ActivationRecord: Hashable, Sendable {
  /// Where an activation stands.
  public enum State: String, Hashable, Sendable {
    /// The invite may be used.
    case open
    /// The invite was used.
    case used
    /// A later activation took its place.
    case replaced
  }

  /// Names the activation.
  public var id: String
  /// For whom.
  public var user: String
  /// The invite key under the server's master key: a hash of the invite, itself encrypted.
  public var sealedInviteKey: [UInt8]
  /// The salt of the invite key, 16 bytes.
  public var salt: [UInt8]
  /// Memory cost of the invite key, in KiB.
  public var memoryKiB: Int
  /// Passes of the invite key.
  public var passes: Int
  /// Lanes of the invite key.
  public var lanes: Int
  /// The container's profile as the protocol writes it, JSON.
  public var profile: [UInt8]
  /// When it was made.
  public var created: Int64
  /// When it ends.
  public var expires: Int64
  /// Wrong proofs so far.
  public var failedAttempts: Int
  /// Where it stands.
  public var state: State

  /// Describes an activation.
  public init(
    id: String, user: String, sealedInviteKey: [UInt8], salt: [UInt8], memoryKiB: Int, passes: Int,
    lanes: Int,
    profile: [UInt8], created: Int64, expires: Int64, failedAttempts: Int = 0, state: State = .open
  ) {
    (self.id, self.user, self.sealedInviteKey, self.salt) = (id, user, sealedInviteKey, salt)
    (self.memoryKiB, self.passes, self.lanes, self.profile) = (memoryKiB, passes, lanes, profile)
    (self.created, self.expires, self.failedAttempts, self.state) = (created, expires, failedAttempts, state)
  }
}
