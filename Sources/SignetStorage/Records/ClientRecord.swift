import SignetSQL

/// A relying party that speaks OpenID Connect, as an operator registered it.
public struct ClientRecord: Hashable, Sendable {
  /// How a client proves who it is (OpenID Connect Core section 9).
  public enum Authentication: String, Hashable, Sendable, CaseIterable {
    /// It signs an assertion with a key of its own.
    case privateKeyJWT = "private_key_jwt"
    /// It sends a secret.
    case clientSecretBasic = "client_secret_basic"
  }

  /// How a client gets what was decided (CIBA section 5).
  public enum Delivery: String, Hashable, Sendable, CaseIterable {
    /// It asks until there is something.
    case poll
    /// It is told when to ask.
    case ping
    /// It is told.
    case push
  }

  /// Names the client; not a secret.
  public var id: ID<ClientRecord>
  /// What users are told who asks.
  public var name: String
  /// How it proves who it is.
  public var authentication: Authentication
  /// Its public keys, a JWK Set; `nil` for none.
  public var keySet: [UInt8]?
  /// SHA-256 of its secret, 32 bytes; `nil` for none.
  public var secretDigest: [UInt8]?
  /// How it gets what was decided.
  public var delivery: Delivery
  /// Where it is told; `nil` for a client that polls.
  public var notificationEndpoint: String?
  /// The one algorithm that its requests are signed with; `nil` where they are not signed.
  public var requestAlgorithm: String?
  /// How many digits of the number that it shows, for the user to type; `nil` for none.
  public var numberDigits: Int?
  /// When it was registered.
  public var created: Int64
  /// When it was revoked; `nil` while it is good.
  public var revoked: Int64?
  /// Whether its row is not as the server wrote it: never stored, and found when the row is read.
  ///
  /// It is good for nothing then.
  public var isAltered = false

  /// Describes a client.
  public init(
    id: ID<ClientRecord>, name: String, authentication: Authentication, delivery: Delivery, created: Int64
  ) {
    (self.id, self.name, self.authentication) = (id, name, authentication)
    (self.delivery, self.created) = (delivery, created)
  }
}

extension ClientRecord {
  static let columns =
    "id, name, authentication, delivery, created, key_set, secret_digest, endpoint, request_algorithm, number_digits, revoked, code"

  /// Reads a row; if its MAC does not match, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    // The database keeps the kinds of values; a word may be one that there is not.
    self.init(
      id: try row.id(0), name: try row.text(1),
      authentication: Authentication(sqlValue: row[2]) ?? .privateKeyJWT,
      delivery: Delivery(sqlValue: row[3]) ?? .poll, created: try row.integer(4))
    keySet = try row.optional(5, row.blob)
    secretDigest = try row.optional(6, row.blob)
    notificationEndpoint = try row.optional(7, row.text)
    requestAlgorithm = try row.optional(8, row.text)
    numberDigits = try row.optional(9, row.integer).map { Int(clamping: $0) }
    revoked = try row.optional(10, row.integer)
    isAltered = !mac.isOwn(image, try row.optional(11, row.blob))
  }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("clients")
    image.append(id)
    image.append(name)
    image.append(authentication.rawValue)
    image.append(keySet)
    image.append(secretDigest)
    image.append(delivery.rawValue)
    image.append(notificationEndpoint)
    image.append(requestAlgorithm)
    image.append(numberDigits)
    image.append(created)
    image.append(revoked)
    return image
  }

  /// The client, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func checked() throws(StorageFailure) -> ClientRecord {
    guard !isAltered else { throw .altered(row: id.text, of: "clients") }
    return self
  }
}

extension SQLConnection {
  /// The client of an id, also one whose row was altered; `nil` for none.
  func anyClient(_ id: ID<ClientRecord>) throws -> ClientRecord? {
    let mac = try rowMAC
    return try row("SELECT \(ClientRecord.columns) FROM clients WHERE id = $1", [.of(id)]) {
      try ClientRecord($0, mac)
    }
  }

  /// Adds a client.
  func insert(_ client: ClientRecord) throws {
    try execute(
      """
      INSERT INTO clients (id, name, authentication, key_set, secret_digest, delivery, endpoint,
        request_algorithm, number_digits, created, revoked, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      """,
      [
        .of(client.id), .text(client.name), .text(client.authentication.rawValue),
        .optional(client.keySet), .optional(client.secretDigest), .text(client.delivery.rawValue),
        .optional(client.notificationEndpoint), .optional(client.requestAlgorithm),
        .optional(client.numberDigits.map(Int64.init)), .integer(client.created), .optional(client.revoked),
        .optional(rowMAC.mac(of: client.image)),
      ], changing: 1)
  }
}
