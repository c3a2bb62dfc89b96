import SignetCrypto
import SignetSQL

/// A key of a UAF authenticator, as it was registered.
package struct UAFCredentialRecord: Hashable, Sendable {
  /// The state of a key.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// It can be used.
    case active
    /// Its counter did not grow: the key may have been copied, so neither copy is accepted.
    case quarantined
    /// Permanently revoked, with its device: the row is kept, so that the key cannot be registered again.
    case revoked
    /// The row's MAC does not verify: never stored, set when the row is read.
    case altered
  }

  /// The proof that a key belongs to the model that it names.
  package enum ModelProof: String, Hashable, Sendable, CaseIterable {
    /// Surrogate attestation: any holder of a key can claim this.
    case claimed
    /// A certificate chain to the roots in the model's metadata.
    case attested
  }

  /// The AAID of the authenticator's model, with hexadecimal digits in upper case.
  package var aaid: String
  /// The id of the key among the model's keys.
  package var keyID: [UInt8]
  /// The user.
  package var user: UserID
  /// The public key in the authenticator's encoding.
  package var publicKey: [UInt8]
  /// The signature algorithm, by its number in the FIDO registry.
  package var algorithm: UInt16
  /// The encoding of the key, by its number in the FIDO registry.
  package var keyFormat: UInt16
  /// The last counter; 0 if the authenticator does not count.
  package var signCounter: UInt32
  /// The registration counter at the registration; 0 if the authenticator does not count.
  package var registrationCounter: UInt32
  /// The authenticator's version.
  package var authenticatorVersion: UInt16
  /// When it was registered, in seconds since 1970.
  package var created: Int64
  /// The state.
  package var state = State.active
  /// The proof of its model.
  package var modelProof = ModelProof.claimed
  /// The key protection of the model by its metadata at the registration: the bits of the FIDO registry, of which 1 is software.
  package var keyProtection: UInt16 = 1
  /// When its counter last grew by an authentication, in seconds since 1970; `nil` for never, and for a key that does not count.
  package var lastUsed: Int64?
  /// The installation id of the device on which it was registered; `nil` if the device did not send one.
  package var device: String?

  /// Describes a key.
  package init(
    aaid: String, keyID: [UInt8], user: UserID, publicKey: [UInt8], algorithm: UInt16, keyFormat: UInt16,
    signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16, created: Int64
  ) {
    self.aaid = aaid
    self.keyID = keyID
    self.user = user
    self.publicKey = publicKey
    self.algorithm = algorithm
    self.keyFormat = keyFormat
    self.signCounter = signCounter
    self.registrationCounter = registrationCounter
    self.authenticatorVersion = authenticatorVersion
    self.created = created
  }
}

/// A key that is about to be registered.
package struct NewUAFCredential: Hashable, Sendable {
  /// The key.
  package var credential: UAFCredentialRecord
  /// The digest of its public key, which must differ from those of all other authenticators.
  package var digest: PublicKeyDigest

  /// Combines the two.
  package init(_ credential: UAFCredentialRecord, digest: PublicKeyDigest) {
    (self.credential, self.digest) = (credential, digest)
  }
}

extension UAFCredentialRecord: StoredRecord {
  /// Its ``AuthenticatorRecord/id``.
  var authenticator: String { "\(aaid)/\(Base64URL.encode(keyID))" }

  static let table = "uaf_credentials"
  static let columns =
    "state, aaid, key_id, user_id, public_key, algorithm, key_format, sign_counter, registration_counter, authenticator_version, created, device, model_proof, key_protection, code, last_used"

  /// Reads a row; if its MAC does not verify, the state is ``State/altered``.
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
    let isValid = mac.matches(image, try row.optional(14, row.blob))
    if modelProof == nil || !isValid { self.state = .altered }
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
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
  func insert(_ credential: UAFCredentialRecord) throws {
    try insert(
      into: UAFCredentialRecord.table,
      "aaid, key_id, user_id, public_key, algorithm, key_format, sign_counter, registration_counter, authenticator_version, created, state, device, model_proof, key_protection, code, last_used",
      [
        .text(credential.aaid), .blob(credential.keyID), .of(credential.user), .blob(credential.publicKey),
        .integer(Int64(credential.algorithm)), .integer(Int64(credential.keyFormat)),
        .integer(Int64(credential.signCounter)), .integer(Int64(credential.registrationCounter)),
        .integer(Int64(credential.authenticatorVersion)), .integer(credential.created),
        .text(credential.state.rawValue), .optional(credential.device),
        .text(credential.modelProof.rawValue), .integer(Int64(credential.keyProtection)),
        .optional(rowMAC.mac(of: credential.image)), .optional(credential.lastUsed),
      ])
  }
}

/// A selection of a user's UAF keys.
package struct UAFKeySelection: Hashable, Sendable {
  /// The model; `nil` for all.
  package var aaid: String?
  /// The key id of a key of the model; `nil` for all.
  package var keyID: [UInt8]?

  /// Selects keys; a key id without a model selects none.
  package init(aaid: String? = nil, keyID: [UInt8]? = nil) { (self.aaid, self.keyID) = (aaid, keyID) }
}

/// A use of a UAF key that its signature proves, with the counter to compare with the stored one.
package struct CounterUpdate: Hashable, Sendable {
  /// The model.
  package var aaid: String
  /// The key id.
  package var keyID: [UInt8]
  /// The signed counter.
  package var signCounter: UInt32

  /// Describes a use.
  package init(aaid: String, keyID: [UInt8], signCounter: UInt32) {
    self.aaid = aaid
    self.keyID = keyID
    self.signCounter = signCounter
  }
}
