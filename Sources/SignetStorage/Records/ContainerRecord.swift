import SignetSQL

/// The server's record of a container: its public keys.
///
/// Its one-time passwords are in a ``CredentialRecord`` of the same id.
package struct ContainerRecord: Hashable, Sendable {
  /// The state of a container.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Made, but not yet confirmed by the device; no other use.
    case pending
    /// In use.
    case active
    /// Ended.
    case revoked
    /// The row's MAC does not verify: never stored, set when the row is read. The container can be revoked.
    case altered
  }

  /// The id of the container.
  package var id: ContainerID
  /// The user.
  package var user: UserID
  /// The activation that led to it.
  package var activation: ID<ActivationRecord>
  /// The installation id of the device, 16 bytes.
  package var device: [UInt8]
  /// The user's name for the device.
  package var name: String
  /// The device's operating system.
  package var platform: String
  /// The device's keystore.
  package var keystore: String
  /// The session key, X9.63, 65 bytes.
  package var sessionKey: [UInt8]
  /// The encryption key, X9.63, 65 bytes.
  package var encryptionKey: [UInt8]
  /// The signing key, X9.63, 65 bytes.
  package var signingKey: [UInt8]
  /// The container's profile in the JSON form of the protocol.
  package var profile: [UInt8]
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// The state.
  package var state: State
  /// Indicates whether the device reports a keystore that simulates hardware.
  package var isSimulated = false
  /// The device's statement of where the signing key was generated and is used; `nil` for a container from before this was stored.
  package var keyOrigin: String?
  /// The container that this one replaces; `nil` for the first.
  package var renews: ContainerID?
  /// The number of renewals that led to this container.
  package var renewals = 0
  /// The device's statement of the renewal, signed by the signing key of the previous container; `nil` for the first.
  package var succession: String?
  /// Indicates whether the device is to renew it.
  package var isRenewalRequested = false
  /// The operations that the server accepts from it.
  package var compliance = ComplianceState.open
  /// The revision of ``AccountStateRecord`` up to which its device has something to receive or to report; 0 for none.
  package var reportRequested: Int64 = 0
  /// How the device ended it, in the protocol's word; `nil` if it did not.
  package var ended: String?

  /// Describes a container.
  package init(
    id: ContainerID, user: UserID, activation: ID<ActivationRecord>, device: [UInt8], name: String,
    platform: String,
    keystore: String,
    sessionKey: [UInt8], encryptionKey: [UInt8], signingKey: [UInt8], profile: [UInt8], created: Int64,
    state: State = .pending
  ) {
    self.id = id
    self.user = user
    self.activation = activation
    self.device = device
    self.name = name
    self.platform = platform
    self.keystore = keystore
    self.sessionKey = sessionKey
    self.encryptionKey = encryptionKey
    self.signingKey = signingKey
    self.profile = profile
    self.created = created
    self.state = state
  }
}

/// A container that is about to be added, with its one-time-password credential.
package struct NewContainer: Hashable, Sendable {
  /// The container, pending.
  package var container: ContainerRecord
  /// Its credential, of the same id, pending.
  package var credential: CredentialRecord

  /// Combines the two.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - credential: Its credential.
  /// - Precondition: Both have the same id and user.
  package init(_ container: ContainerRecord, _ credential: CredentialRecord) {
    precondition(
      credential.id == ID(of: container.id) && container.user == credential.user,
      "a credential is of its container")
    (self.container, self.credential) = (container, credential)
  }
}

extension ContainerRecord: StoredRecord, AlterableRecord {
  package static let table = "containers"
  static let columns =
    "state, id, user_id, activation, device, name, platform, keystore, session_key, encryption_key, signing_key, profile, created, simulated, renews, renewals, succession, renewal_wanted, ended, key_origin, standing, report_wanted, code"
  static let columnCount = 23

  /// Reads a row; if its MAC does not verify, the state is ``State/altered``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    // The database enforces the types of values, but a word may be unknown.
    let state = State(sqlValue: row[0]) ?? .altered
    self.init(
      id: try row.id(1), user: try row.user(2), activation: try row.id(3),
      device: try row.blob(4), name: try row.text(5), platform: try row.text(6),
      keystore: try row.text(7), sessionKey: try row.blob(8),
      encryptionKey: try row.blob(9), signingKey: try row.blob(10),
      profile: try row.blob(11), created: try row.integer(12), state: state)
    isSimulated = row[13] == .integer(1)
    renews = try row.optional(14, row.id)
    renewals = try row.int(15)
    succession = try row.optional(16, row.text)
    isRenewalRequested = row[17] == .integer(1)
    ended = try row.optional(18, row.text)
    keyOrigin = try row.optional(19, row.text)
    (compliance, reportRequested) = (ComplianceState(sqlValue: row[20]) ?? .locked, try row.integer(21))
    if !mac.matches(image, try row.optional(22, row.blob)) { self.state = .altered }
  }

  package var isAltered: Bool { state == .altered }

  /// The input of the row's MAC: all columns except the pending requests to the device and the counts of rejected attempts.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(activation)
    image.append(device)
    image.append(name)
    image.append(platform)
    image.append(keystore)
    image.append(sessionKey)
    image.append(encryptionKey)
    image.append(signingKey)
    image.append(profile)
    image.append(created)
    image.append(state.rawValue)
    image.append(isSimulated ? 1 : 0)
    image.append(keyOrigin)
    image.append(renews)
    image.append(renewals)
    image.append(succession)
    image.append(compliance.rawValue)
    image.append(ended)
    return image
  }
}

extension SQLConnection {
  /// Adds a container and its initial account state, without registering its keys.
  func insert(_ container: ContainerRecord) throws {
    try insert(
      into: ContainerRecord.table,
      "id, user_id, activation, device, name, platform, keystore, session_key, encryption_key, signing_key, profile, created, state, simulated, renews, renewals, succession, renewal_wanted, ended, key_origin, standing, code",
      [
        .of(container.id), .of(container.user), .of(container.activation), .blob(container.device),
        .text(container.name), .text(container.platform), .text(container.keystore),
        .blob(container.sessionKey), .blob(container.encryptionKey), .blob(container.signingKey),
        .blob(container.profile), .integer(container.created), .text(container.state.rawValue),
        .int(container.isSimulated ? 1 : 0), .optional(container.renews), .int(container.renewals),
        .optional(container.succession), .int(container.isRenewalRequested ? 1 : 0),
        .optional(container.ended),
        .optional(container.keyOrigin), .of(container.compliance),
        .optional(rowMAC.mac(of: container.image)),
      ])
    try write(AccountStateRecord(), of: container.id)
  }

  /// Writes the columns of a container that can change, and the MAC of the row.
  func update(_ container: ContainerRecord) throws {
    try execute(
      """
      UPDATE containers SET state = $1, name = $2, platform = $3, standing = $4, report_wanted = $5, ended = $6, simulated = $7,
        device = $8, succession = $9, code = $10
      WHERE id = $11
      """,
      [
        .of(container.checked().state), .text(container.name), .text(container.platform),
        .of(container.compliance), .integer(container.reportRequested), .optional(container.ended),
        .int(container.isSimulated ? 1 : 0), .blob(container.device), .optional(container.succession),
        .optional(rowMAC.mac(of: container.image)), .of(container.id),
      ], changing: 1)
  }
}
