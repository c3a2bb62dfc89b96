import SignetSQL

/// A key of a relying party or an operator.
///
/// The key itself is not stored.
public struct APIKeyRecord: Hashable, Sendable {
  /// Names the key; not a secret.
  public var id: ID<APIKeyRecord>
  /// What the operator calls it.
  public var name: String
  /// What users are told who asks, if that is another name.
  public var displayName: String?
  /// What it may do.
  public var scopes: [String]
  /// SHA-256 of the secret half, 32 bytes.
  public var secretDigest: [UInt8]
  /// When it was made.
  public var created: Int64
  /// When it was revoked; `nil` while it is good.
  public var revoked: Int64?
  /// Whether its row is not as the server wrote it: never stored, and found when the row is read.
  ///
  /// It is good for nothing then.
  public var isAltered = false

  /// Describes a key.
  public init(
    id: ID<APIKeyRecord>, name: String, scopes: [String], secretDigest: [UInt8], created: Int64,
    revoked: Int64? = nil
  ) {
    (self.id, self.name, self.scopes, self.secretDigest) = (id, name, scopes, secretDigest)
    (self.created, self.revoked) = (created, revoked)
  }
}

extension APIKeyRecord {
  static let columns =
    "id, name, scopes, secret_digest, created, revoked, display_name, code"

  /// Reads a row; if its MAC does not match, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.id(0), name: try row.text(1),
      scopes: try row.text(2).split(separator: " ").map(String.init),
      secretDigest: try row.blob(3), created: try row.integer(4),
      revoked: try row.optional(5, row.integer))
    displayName = try row.optional(6, row.text)
    isAltered = !mac.isOwn(image, try row.optional(7, row.blob))
  }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("api_keys")
    image.append(id)
    image.append(name)
    image.append(scopes.joined(separator: " "))
    image.append(secretDigest)
    image.append(created)
    image.append(revoked)
    image.append(displayName)
    return image
  }

  /// The key, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> APIKeyRecord {
    guard !isAltered else { throw .altered(row: id.text, of: "api_keys") }
    return self
  }
}

extension SQLConnection {
  // Put together once: each step that a key asks for reads it.
  private static let apiKeyByID = "SELECT \(APIKeyRecord.columns) FROM api_keys WHERE id = $1"

  /// The key of an id, also one whose row was altered; `nil` for none.
  func anyAPIKey(_ id: ID<APIKeyRecord>) throws -> APIKeyRecord? {
    let mac = try rowMAC
    return try row(Self.apiKeyByID, [.of(id)]) {
      try APIKeyRecord($0, mac)
    }
  }

  /// Adds an API key.
  func insert(_ key: APIKeyRecord) throws {
    try execute(
      """
      INSERT INTO api_keys (id, name, scopes, secret_digest, created, revoked, display_name, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .of(key.id), .text(key.name), .text(key.scopes.joined(separator: " ")), .blob(key.secretDigest),
        .integer(key.created), .optional(key.revoked), .optional(key.displayName),
        .optional(rowMAC.mac(of: key.image)),
      ], changing: 1)
  }
}
