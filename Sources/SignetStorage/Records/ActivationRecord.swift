import SignetSQL

/// An activation: an invite that can become a container, once.
package struct ActivationRecord: Hashable, Sendable {
  /// The state of an activation.
  package enum State: String, Hashable, Sendable {
    /// The invite can be used.
    case open
    /// The invite was used.
    case used
    /// A later activation replaced it.
    case replaced
  }

  /// The id of the activation.
  package var id: ID<ActivationRecord>
  /// The user.
  package var user: UserID
  /// The invite key, a hash of the invite, encrypted under the server's master key.
  package var sealedInviteKey: [UInt8]
  /// The salt of the invite key, 16 bytes.
  package var salt: [UInt8]
  /// The memory cost of the invite key's hash, in KiB.
  package var memoryKiB: Int
  /// The passes of the invite key's hash.
  package var passes: Int
  /// The lanes of the invite key's hash.
  package var lanes: Int
  /// The container's profile in the JSON form of the protocol.
  package var profile: [UInt8]
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// When it expires, in seconds since 1970.
  package var expires: Int64
  /// The number of wrong proofs.
  package var failedAttempts: Int
  /// The state.
  package var state: State

  /// Describes an activation.
  package init(
    id: ID<ActivationRecord>, user: UserID, sealedInviteKey: [UInt8], salt: [UInt8], memoryKiB: Int,
    passes: Int,
    lanes: Int,
    profile: [UInt8], created: Int64, expires: Int64, failedAttempts: Int = 0, state: State = .open
  ) {
    self.id = id
    self.user = user
    self.sealedInviteKey = sealedInviteKey
    self.salt = salt
    self.memoryKiB = memoryKiB
    self.passes = passes
    self.lanes = lanes
    self.profile = profile
    self.created = created
    self.expires = expires
    self.failedAttempts = failedAttempts
    self.state = state
  }
}

extension ActivationRecord: StoredRecord {
  static let table = "activations"
  static let columns =
    "state, id, user_id, sealed_invite_key, salt, memory, passes, lanes, profile, created, expires, failed_attempts, code"

  /// Reads the row of an open activation; others have no MAC.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the MAC does not verify; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.id(1), user: try row.user(2), sealedInviteKey: try row.blob(3),
      salt: try row.blob(4), memoryKiB: try row.int(5),
      passes: try row.int(6), lanes: try row.int(7),
      profile: try row.blob(8), created: try row.integer(9),
      expires: try row.integer(10),
      failedAttempts: try row.int(11), state: state)
    try mac.check(image, try row.optional(12, row.blob), named: id.text, of: Self.table)
  }

  /// The input of the row's MAC: all columns except the count of wrong proofs.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(sealedInviteKey)
    image.append(salt)
    image.append(memoryKiB)
    image.append(passes)
    image.append(lanes)
    image.append(profile)
    image.append(created)
    image.append(expires)
    image.append(state.rawValue)
    return image
  }
}

extension SQLConnection {
  func insert(_ activation: ActivationRecord) throws {
    try insert(
      into: ActivationRecord.table,
      "id, user_id, sealed_invite_key, salt, memory, passes, lanes, profile, created, expires, failed_attempts, state, code",
      [
        .of(activation.id), .of(activation.user), .blob(activation.sealedInviteKey),
        .blob(activation.salt), .int(activation.memoryKiB), .int(activation.passes), .int(activation.lanes),
        .blob(activation.profile), .integer(activation.created), .integer(activation.expires),
        .int(activation.failedAttempts), .text(activation.state.rawValue),
        .optional(rowMAC.mac(of: activation.image)),
      ])
  }
}

/// The outcome of a *finish* message.
package enum ActivationOutcome: Hashable, Sendable {
  /// The container is pending.
  case staged
  /// The proof was wrong; the number of remaining attempts.
  case wrongProof(remaining: Int)
  /// One of the keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// The activation was used, replaced, has expired or has no attempts left.
  case closed
}

/// The outcome of a *confirm* message.
package enum ConfirmationOutcome: Hashable, Sendable {
  /// The container is active now.
  case activated
  /// It was active before.
  case alreadyActive
  /// There is no such container, or it has ended.
  case gone
}

/// The outcome of a *finish* message of a renewal.
package enum RenewalOutcome: Hashable, Sendable {
  /// The successor is pending.
  case staged
  /// The present keys did not prove it.
  case notSigned
  /// One of the new keys belongs to another authenticator; nothing was counted.
  case keyTaken
  /// There were too many consecutive wrong signatures or codes.
  case locked
  /// The container is not active any more.
  case gone
}
