import SignetSQL

/// A key that the server signs with.
public struct SigningKeyRecord: Hashable, Sendable {
  /// Names the key: the RFC 7638 thumbprint of its public half.
  public var id: String
  /// The private half, under the server's master key.
  public var sealed: [UInt8]
  /// The public half, X9.63, 65 bytes.
  public var publicKey: [UInt8]
  /// When it was made.
  public var created: Int64
  /// When another took its place; `nil` for the present one.
  public var retired: Int64?
  /// The word of the key before it that this one comes next, a JWS; `nil` for the first.
  public var succession: String?
  /// Whether its row is not as the server wrote it: never stored, and found when the row is read.
  ///
  /// It is good for nothing then, and is not published.
  public var isAltered = false

  /// Describes a key.
  public init(
    id: String, sealed: [UInt8], publicKey: [UInt8], created: Int64, retired: Int64? = nil,
    succession: String? = nil
  ) {
    (self.id, self.sealed, self.publicKey) = (id, sealed, publicKey)
    (self.created, self.retired, self.succession) = (created, retired, succession)
  }
}

/// The keys that a server signs with, as they were at one moment.
public struct SigningKeyRecords: Hashable, Sendable {
  /// Oldest first, also those whose rows were altered; the one that signs is the last.
  public let all: [SigningKeyRecord]
  /// Whether there was never one: none is there, no container is in use, and the audit log names none.
  public let isNew: Bool

  /// Puts what was found together.
  public init(all: [SigningKeyRecord], isNew: Bool) { (self.all, self.isNew) = (all, isNew) }
}

extension SigningKeyRecord {
  static let columns =
    "id, sealed, public_key, created, retired, succession, code"

  /// Reads a row; if its MAC does not match, ``isAltered`` is true.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    self.init(
      id: try row.text(0), sealed: try row.blob(1), publicKey: try row.blob(2),
      created: try row.integer(3), retired: try row.optional(4, row.integer),
      succession: try row.optional(5, row.text))
    isAltered = !mac.isOwn(image, try row.optional(6, row.blob))
  }

  /// The key, where its row is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  public func checked() throws(StorageFailure) -> SigningKeyRecord {
    guard !isAltered else { throw .altered(row: id, of: "signing_keys") }
    return self
  }

  /// What its MAC covers: all of it.
  var image: MACInput {
    var image = MACInput("signing_keys")
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
  /// Adds a key.
  func insert(_ key: SigningKeyRecord) throws {
    try execute(
      "INSERT INTO signing_keys (id, sealed, public_key, created, succession, code) VALUES ($1, $2, $3, $4, $5, $6)",
      [
        .text(key.id), .blob(key.sealed), .blob(key.publicKey), .integer(key.created),
        .optional(key.succession), .optional(rowMAC.mac(of: key.image)),
      ], changing: 1)
  }
}
