import SignetCrypto
import SignetSQL

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
  public var user: UserID
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
  /// When its counter last grew by an authentication, in seconds since 1970; `nil` for never, and for a key that does not count.
  public var lastUsed: Int64?
  /// The device that it was registered on, as that calls itself; `nil` where it did not say.
  public var device: String?

  /// Describes a key.
  public init(
    aaid: String, keyID: [UInt8], user: UserID, publicKey: [UInt8], algorithm: UInt16, keyFormat: UInt16,
    signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16, created: Int64
  ) {
    (self.aaid, self.keyID, self.user, self.publicKey) = (aaid, keyID, user, publicKey)
    (self.algorithm, self.keyFormat, self.signCounter) = (algorithm, keyFormat, signCounter)
    (self.registrationCounter, self.authenticatorVersion) = (registrationCounter, authenticatorVersion)
    self.created = created
  }
}

/// A key that is about to be registered.
public struct NewUAFCredential: Hashable, Sendable {
  /// The key.
  public var credential: UAFCredentialRecord
  /// What tells its public key from those of all other authenticators.
  public var digest: PublicKeyDigest

  /// Puts the two together.
  public init(_ credential: UAFCredentialRecord, digest: PublicKeyDigest) {
    (self.credential, self.digest) = (credential, digest)
  }
}

extension UAFCredentialRecord {
  /// What it is called among the authenticators of its user: ``AuthenticatorRecord/id``.
  var authenticator: String { "\(aaid)/\(Base64URL.encode(keyID))" }

  static let columns =
    "state, aaid, key_id, user_id, public_key, algorithm, key_format, sign_counter, registration_counter, authenticator_version, created, device, model_proof, key_protection, code, last_used"

  /// Reads a row; one that this server has not written so is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    // An unknown word makes the row altered; it is no error of the database.
    let (state, modelProof) = (State(sqlValue: row[0]), ModelProof(sqlValue: row[12]))
    self.init(
      aaid: try row.text(1), keyID: try row.blob(2), user: try row.user(3),
      publicKey: try row.blob(4), algorithm: UInt16(clamping: try row.integer(5)),
      keyFormat: UInt16(clamping: try row.integer(6)),
      signCounter: UInt32(clamping: try row.integer(7)),
      registrationCounter: UInt32(clamping: try row.integer(8)),
      authenticatorVersion: UInt16(clamping: try row.integer(9)),
      created: try row.integer(10))
    self.state = state ?? .altered
    device = try row.optional(11, row.text)
    self.modelProof = modelProof ?? .claimed
    keyProtection = UInt16(clamping: try row.integer(13))
    lastUsed = try row.optional(15, row.integer)
    let isOwn = mac.isOwn(image, try row.optional(14, row.blob))
    if modelProof == nil || !isOwn { self.state = .altered }
  }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("uaf_credentials")
    image.append(aaid)
    image.append(keyID)
    image.append(user)
    image.append(publicKey)
    image.append(algorithm)
    image.append(keyFormat)
    image.append(signCounter)
    image.append(registrationCounter)
    image.append(authenticatorVersion)
    image.append(created)
    image.append(state.rawValue)
    image.append(device)
    image.append(modelProof.rawValue)
    image.append(keyProtection)
    image.append(lastUsed)
    return image
  }
}

extension SQLConnection {
  /// Adds a key.
  func insert(_ credential: UAFCredentialRecord) throws {
    try execute(
      """
      INSERT INTO uaf_credentials (aaid, key_id, user_id, public_key, algorithm, key_format, sign_counter,
        registration_counter, authenticator_version, created, state, device, model_proof, key_protection, code,
        last_used)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      """,
      [
        .text(credential.aaid), .blob(credential.keyID), .of(credential.user), .blob(credential.publicKey),
        .integer(Int64(credential.algorithm)), .integer(Int64(credential.keyFormat)),
        .integer(Int64(credential.signCounter)), .integer(Int64(credential.registrationCounter)),
        .integer(Int64(credential.authenticatorVersion)), .integer(credential.created),
        .text(credential.state.rawValue), .optional(credential.device),
        .text(credential.modelProof.rawValue), .integer(Int64(credential.keyProtection)),
        .optional(rowMAC.mac(of: credential.image)), .optional(credential.lastUsed),
      ], changing: 1)
  }
}
