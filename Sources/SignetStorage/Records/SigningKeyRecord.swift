import SignetSQL

/// A signing key of the server.
package struct SigningKeyRecord: Hashable, Sendable {
  /// The id of the key: the RFC 7638 thumbprint of its public key.
  package var id: String
  /// The private key, encrypted under the server's master key.
  package var sealed: [UInt8]
  /// The public key, X9.63, 65 bytes.
  package var publicKey: [UInt8]
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// When another key replaced it; `nil` for the present one.
  package var retired: Int64?
  /// The statement of the previous key that this is the next one, a JWS; `nil` for the first.
  package var succession: String?
  /// Indicates whether its row's MAC does not verify; never stored, set when the row is read.
  ///
  /// The server neither uses nor publishes such a key.
  package var isAltered = false

  /// Describes a key.
  package init(
    id: String, sealed: [UInt8], publicKey: [UInt8], created: Int64, retired: Int64? = nil,
    succession: String? = nil
  ) {
    self.id = id
    self.sealed = sealed
    self.publicKey = publicKey
    self.created = created
    self.retired = retired
    self.succession = succession
  }
}

/// The signing keys of a server at one moment.
package struct SigningKeyRecords: Hashable, Sendable {
  /// The keys, oldest first, including those whose row MAC does not verify; the last one signs.
  package let all: [SigningKeyRecord]
  /// Indicates whether there has never been a key: there is none, no container is active, and the audit log names none.
  package let isNew: Bool

  /// Combines the two.
  package init(all: [SigningKeyRecord], isNew: Bool) { (self.all, self.isNew) = (all, isNew) }
}

extension SigningKeyRecord: StoredRecord, AlterableRecord {
  package static let table = "signing_keys"
  static let columns =
    "id, sealed, public_key, created, retired, succession, code"

  /// Reads a row; if its MAC does not verify, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.text(0), sealed: try row.blob(1), publicKey: try row.blob(2),
      created: try row.integer(3), retired: try row.optional(4, row.integer),
      succession: try row.optional(5, row.text))
    isAltered = !mac.matches(image, try row.optional(6, row.blob))
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(sealed)
    image.append(publicKey)
    image.append(created)
    image.append(retired)
    image.append(succession)
    return image
  }
}

extension SQLConnection {
  func insert(_ key: SigningKeyRecord) throws {
    try insert(
      into: SigningKeyRecord.table,
      "id, sealed, public_key, created, succession, code",
      [
        .text(key.id), .blob(key.sealed), .blob(key.publicKey), .integer(key.created),
        .optional(key.succession), .optional(rowMAC.mac(of: key.image)),
      ])
  }
}
