/// A key of a UAF authenticator, as it was registered.
public struct UAFCredentialRecord: Hashable, Sendable {
  /// Whether a key may still be used.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It may.
    case active
    /// Its counter went back: there are two of it, and neither is taken any more.
    case quarantined
    /// It was revoked with its device, for good: it stays, so that it is not registered again.
    case revoked
    /// Its row is not as the server wrote it: never stored, and found when the row is read.
    case altered
  }

  /// How it is known that a key is of the model that it names.
  public enum ModelProof: String, Hashable, Sendable, CaseIterable {
    /// The key itself says so (surrogate attestation): whoever has a key can say it.
    case claimed
    /// Certificates led to the roots in the model's metadata.
    case attested
  }

  /// The authenticator's model, its digits in upper case.
  public var aaid: String
  /// Names the key among the model's.
  public var keyID: [UInt8]
  /// Whose it is.
  public var user: String
  /// The public key as the authenticator wrote it.
  public var publicKey: [UInt8]
  /// The registry's number of the signature algorithm.
  public var algorithm: UInt16
  /// The registry's number of the key's encoding.
  public var keyFormat: UInt16
  /// The last counter; 0 where the authenticator does not count.
  public var signCounter: UInt32
  /// How many keys the authenticator had made; 0 where it does not count.
  public var registrationCounter: UInt32
  /// The authenticator's version.
  public var authenticatorVersion: UInt16
  /// When it was registered, in seconds since 1970.
  public var created: Int64
  /// Whether it may still be used.
  public var state = State.active
  /// How its model is known.
  public var modelProof = ModelProof.claimed
  /// Where keys of the model lie, as its metadata said when the key was registered: the bits of the FIDO registry, of which 1 is
  /// software.
  public var keyProtection: UInt16 = 1
  /// The device that it was registered on, as that calls itself; `nil` where it did not say.
  public var device: String?

  /// Describes a key.
  public init(
    aaid: String, keyID: [UInt8], user: String, publicKey: [UInt8], algorithm: UInt16, keyFormat: UInt16,
    signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16, created: Int64
  ) {
    (self.aaid, self.keyID, self.user, self.publicKey) = (aaid, keyID, user, publicKey)
    (self.algorithm, self.keyFormat, self.signCounter) = (algorithm, keyFormat, signCounter)
    (self.registrationCounter, self.authenticatorVersion) = (registrationCounter, authenticatorVersion)
    self.created = created
  }
}
