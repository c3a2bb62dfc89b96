import SignetSQL

/// An OpenID Connect client, as an operator registered it.
package struct ClientRecord: Hashable, Sendable {
  /// The authentication method of a client (OpenID Connect Core section 9).
  package enum Authentication: String, Hashable, Sendable, CaseIterable {
    /// An assertion that the client signs with its private key.
    case privateKeyJWT = "private_key_jwt"
    /// A secret.
    case clientSecretBasic = "client_secret_basic"
  }

  /// The delivery mode of a client (CIBA section 5).
  package enum Delivery: String, Hashable, Sendable, CaseIterable {
    /// The client polls for the result.
    case poll
    /// The server notifies the client, which then asks for the result.
    case ping
    /// The server sends the result.
    case push
  }

  /// The id of the client; not a secret.
  package var id: ID<ClientRecord>
  /// The name that is shown to users.
  package var name: String
  /// The authentication method.
  package var authentication: Authentication
  /// Its public keys, a JWK Set; `nil` for none.
  package var keySet: [UInt8]?
  /// SHA-256 of its secret, 32 bytes; `nil` for none.
  package var secretDigest: [UInt8]?
  /// The delivery mode.
  package var delivery: Delivery
  /// The URL for notifications; `nil` for a client that polls.
  package var notificationEndpoint: String?
  /// The only algorithm that is accepted for its signed requests; `nil` if they are not signed.
  package var requestAlgorithm: String?
  /// The number of digits of the number that it displays for the user to type; `nil` for none.
  package var numberDigits: Int?
  /// When it was registered, in seconds since 1970.
  package var created: Int64
  /// When it was revoked; `nil` for not revoked.
  package var revoked: Int64?
  /// Indicates whether its row's MAC does not verify; never stored, set when the row is read.
  ///
  /// The server accepts nothing from such a client.
  package var isAltered = false

  /// Describes a client.
  package init(
    id: ID<ClientRecord>, name: String, authentication: Authentication, delivery: Delivery, created: Int64
  ) {
    self.id = id
    self.name = name
    self.authentication = authentication
    self.delivery = delivery
    self.created = created
  }
}

extension ClientRecord: StoredRecord, AlterableRecord {
  package static let table = "clients"
  static let columns =
    "id, name, authentication, delivery, created, key_set, secret_digest, endpoint, request_algorithm, number_digits, revoked, code"

  /// Reads a row; if its MAC does not verify, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    // The database enforces the types of values, but a word may be unknown.
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
    isAltered = !mac.matches(image, try row.optional(11, row.blob))
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
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
}

extension SQLConnection {
  /// Returns the client with this id, even if its row's MAC does not verify; `nil` for none.
  func anyClient(_ id: ID<ClientRecord>) throws -> ClientRecord? {
    try record("WHERE id = $1", [.of(id)])
  }

  func insert(_ client: ClientRecord) throws {
    try insert(
      into: ClientRecord.table,
      "id, name, authentication, key_set, secret_digest, delivery, endpoint, request_algorithm, number_digits, created, revoked, code",
      [
        .of(client.id), .text(client.name), .text(client.authentication.rawValue),
        .optional(client.keySet), .optional(client.secretDigest), .text(client.delivery.rawValue),
        .optional(client.notificationEndpoint), .optional(client.requestAlgorithm),
        .optional(client.numberDigits.map(Int64.init)), .integer(client.created), .optional(client.revoked),
        .optional(rowMAC.mac(of: client.image)),
      ])
  }
}
