import SignetSQL

/// A key of a relying party or an operator.
///
/// The key itself is not stored.
package struct APIKeyRecord: Hashable, Sendable {
  /// The id of the key; not a secret.
  package var id: ID<APIKeyRecord>
  /// The operator's name for it.
  package var name: String
  /// The name that is shown to users, if it differs.
  package var displayName: String?
  /// The operations that it allows.
  package var scopes: [String]
  /// SHA-256 of the secret half, 32 bytes.
  package var secretDigest: [UInt8]
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// When it was revoked; `nil` for not revoked.
  package var revoked: Int64?
  /// Indicates whether its row's MAC does not verify; never stored, set when the row is read.
  ///
  /// The server does not accept such a key.
  package var isAltered = false

  /// Describes a key.
  package init(
    id: ID<APIKeyRecord>, name: String, scopes: [String], secretDigest: [UInt8], created: Int64,
    revoked: Int64? = nil
  ) {
    self.id = id
    self.name = name
    self.scopes = scopes
    self.secretDigest = secretDigest
    self.created = created
    self.revoked = revoked
  }
}

extension APIKeyRecord: StoredRecord, AlterableRecord {
  package static let table = "api_keys"
  static let columns =
    "id, name, scopes, secret_digest, created, revoked, display_name, code"

  /// Reads a row; if its MAC does not verify, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.id(0), name: try row.text(1),
      scopes: try row.text(2).split(separator: " ").map(String.init),
      secretDigest: try row.blob(3), created: try row.integer(4),
      revoked: try row.optional(5, row.integer))
    displayName = try row.optional(6, row.text)
    isAltered = !mac.matches(image, try row.optional(7, row.blob))
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(name)
    image.append(scopes.joined(separator: " "))
    image.append(secretDigest)
    image.append(created)
    image.append(revoked)
    image.append(displayName)
    return image
  }
}

extension SQLConnection {
  // Built once, because each step on behalf of a key reads it.
  private static let apiKeyByID = "SELECT \(APIKeyRecord.columns) FROM api_keys WHERE id = $1"

  /// Returns the key with this id, even if its row's MAC does not verify; `nil` for none.
  func anyAPIKey(_ id: ID<APIKeyRecord>) throws -> APIKeyRecord? {
    let mac = try rowMAC
    return try row(Self.apiKeyByID, [.of(id)]) {
      try APIKeyRecord($0, mac)
    }
  }

  func insert(_ key: APIKeyRecord) throws {
    try insert(
      into: APIKeyRecord.table,
      "id, name, scopes, secret_digest, created, revoked, display_name, code",
      [
        .of(key.id), .text(key.name), .text(key.scopes.joined(separator: " ")), .blob(key.secretDigest),
        .integer(key.created), .optional(key.revoked), .optional(key.displayName),
        .optional(rowMAC.mac(of: key.image)),
      ])
  }
}
