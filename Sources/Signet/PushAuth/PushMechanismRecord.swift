import SignetCrypto
import SignetJSON
import SignetPushAuth
import SignetVault

/// A push mechanism as the vault keeps it; the secret of the record is the shared one.
struct PushMechanismRecord {
  private static let version: UInt8 = 1

  var mechanismID: String
  var issuer: String
  var name: String
  var endpoints: PushAuthEndpoints
  var loadBalancer: String?
  var userID: String?
  var created: Int64
  /// Whether the server has not taken the present device token.
  var isUpdateDue = false
  /// How often it was told in vain.
  var updateAttempts: Int64 = 0
  /// When to try again, in seconds since 1970.
  var nextUpdate: Int64 = 0
  let secret: SharedSecretBox

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "push-\(id)" }

  /// The name of the record with its messages.
  static func inboxName(_ id: Account.ID) -> String { "inbox-\(id)" }

  /// The mechanism that a record is of; `nil` for other records.
  static func id(ofRecord name: String) -> Account.ID? {
    guard name.hasPrefix("push-") else { return nil }
    return Account.ID(String(name.dropFirst("push-".count)))
  }

  var bytes: SecretBytes {
    var object: JSONObject = [
      "mechanism": .string(mechanismID), "issuer": .string(issuer), "name": .string(name),
      "registration": .string(endpoints.registration), "authentication": .string(endpoints.authentication),
      "created": .integer(created), "updateDue": .bool(isUpdateDue),
      "updateAttempts": .integer(updateAttempts), "nextUpdate": .integer(nextUpdate),
    ]
    object["loadBalancer"] = loadBalancer.map { .string($0) }
    object["userId"] = userID.map { .string($0) }
    return secret.withSecret { FramedRecord.bytes(version: Self.version, json: object.bytes, secret: $0) }
  }

  init(
    mechanismID: String, issuer: String, name: String, endpoints: PushAuthEndpoints, loadBalancer: String?,
    userID: String?, created: Int64, secret: SharedSecretBox
  ) {
    (self.mechanismID, self.issuer, self.name) = (mechanismID, issuer, name)
    (self.endpoints, self.loadBalancer, self.userID) = (endpoints, loadBalancer, userID)
    (self.created, self.secret) = (created, secret)
  }

  init(_ bytes: borrowing SecretBytes) throws(VaultFailure) {
    let framed = try FramedRecord(bytes, newest: Self.version)
    do {
      let object = try JSONObject(parsing: framed.json)
      mechanismID = try object.string("mechanism")
      (issuer, name) = (try object.string("issuer"), try object.string("name"))
      endpoints = try PushAuthEndpoints(
        registration: object.string("registration"), authentication: object.string("authentication"))
      loadBalancer = try object.optionalString("loadBalancer")
      userID = try object.optionalString("userId")
      created = try object.integer("created")
      isUpdateDue = try object.bool("updateDue")
      updateAttempts = try object.integer("updateAttempts")
      nextUpdate = try object.integer("nextUpdate")
    } catch { throw .damaged }
    secret = SharedSecretBox(framed.secret.copy())
  }

  /// The shared secret, ready.
  func key() throws(SignetFailure) -> PushAuthKey {
    do throws(PushAuthFailure) {
      return try secret.withSecret { (secret) throws(PushAuthFailure) in try PushAuthKey(secret) }
    } catch { throw .pushAuth(error) }
  }
}

/// What holds the parts of an account together: its names, its policies, and which parts it has.
struct EnrolledAccountRecord {
  var issuer: String
  var name: String
  var image: String?
  var backgroundColor: String?
  var policies: JSONObject?
  var created: Int64
  /// What it is shown as where it was renamed; ``issuer`` and ``name`` stay, by which the same is known again.
  var displayIssuer: String?
  var displayName: String?
  var codes: [Account.ID] = []
  var push: Account.ID?

  /// Its parts, those that were deleted since included.
  var members: [Account.ID] { codes + (push.map { [$0] } ?? []) }

  /// Whether any of its parts is still there.
  func hasParts(in records: OpenRecords) -> Bool {
    let names = codes.map(AccountRecord.name) + (push.map { [PushMechanismRecord.name($0)] } ?? [])
    return names.contains(where: Set(records.names).contains)
  }

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "enrolled-\(id)" }

  /// The account that a record is of; `nil` for other records.
  static func id(ofRecord name: String) -> Account.ID? {
    guard name.hasPrefix("enrolled-") else { return nil }
    return Account.ID(String(name.dropFirst("enrolled-".count)))
  }

  var bytes: SecretBytes {
    var object: JSONObject = [
      "issuer": .string(issuer), "name": .string(name), "created": .integer(created),
      "codes": .array(codes.map { .string($0.description) }),
    ]
    object["image"] = image.map { .string($0) }
    object["backgroundColor"] = backgroundColor.map { .string($0) }
    object["displayIssuer"] = displayIssuer.map { .string($0) }
    object["displayName"] = displayName.map { .string($0) }
    object["policies"] = policies.map { .object($0) }
    object["push"] = push.map { .string($0.description) }
    return FramedRecord.bytes(version: 1, json: object.bytes, secret: SecretBytes(byteCount: 0) { _ in })
  }

  init(issuer: String, name: String, created: Int64) {
    (self.issuer, self.name, self.created) = (issuer, name, created)
  }

  init(_ bytes: borrowing SecretBytes) throws(VaultFailure) {
    let framed = try FramedRecord(bytes, newest: 1)
    do {
      let object = try JSONObject(parsing: framed.json)
      (issuer, name) = (try object.string("issuer"), try object.string("name"))
      created = try object.integer("created")
      image = try object.optionalString("image")
      backgroundColor = try object.optionalString("backgroundColor")
      displayIssuer = try object.optionalString("displayIssuer")
      displayName = try object.optionalString("displayName")
      policies = try object.optionalObject("policies")
      codes = try object.strings("codes").compactMap { Account.ID($0) }
      push = try object.optionalString("push").flatMap { Account.ID($0) }
    } catch { throw .damaged }
  }

  /// Adds what a URI has of policies, picture and colour; what is there stays.
  ///
  /// - Returns: The names of the policies that differ.
  mutating func merge(policies more: JSONObject?, image: String?, backgroundColor: String?) -> [String] {
    self.image = self.image ?? image
    self.backgroundColor = self.backgroundColor ?? backgroundColor
    guard let more else { return [] }
    var conflicts: [String] = []
    var merged = policies ?? [:]
    for member in more.members {
      if let present = merged[member.name] {
        if present != member.value { conflicts.append(member.name) }
      } else {
        merged[member.name] = member.value
      }
    }
    policies = merged
    return conflicts
  }
}

// Records that are JSON alone. The bytes are wiped wherever they pass; the values read from them are Swift's own strings, which
// nobody can wipe, and none of them is a secret: a challenge is answered with the shared secret only, which lies apart
// (``PushMechanismRecord/secret``), a cookie of a load balancer names a machine, and a device token an address.
extension JSONObject {
  /// The record.
  var recordBytes: SecretBytes {
    var bytes = bytes
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    return SecretBytes(copying: bytes)
  }

  /// Reads a record.
  ///
  /// - Throws: `JSONFailure`.
  init(record: borrowing SecretBytes, limits: JSONLimits = .standard) throws(JSONFailure) {
    self = try record.withTemporaryArray { (bytes) throws(JSONFailure) in
      try JSONObject(parsing: bytes, limits: limits)
    }
  }
}
