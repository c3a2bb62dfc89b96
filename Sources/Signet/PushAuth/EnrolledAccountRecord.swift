import SignetCrypto
import SignetJSON
import SignetVault

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
    let conflicts: [String]
    (policies, conflicts) = Self.merged(policies, more)
    return conflicts
  }

  /// Policies with those of others that they do not have; what is there stays.
  ///
  /// - Returns: All, and the names of those that differ.
  static func merged(_ present: JSONObject?, _ more: JSONObject?) -> (
    policies: JSONObject?, conflicts: [String]
  ) {
    guard let more else { return (present, []) }
    var conflicts: [String] = []
    var merged = present ?? [:]
    for member in more.members {
      if let present = merged[member.name] {
        if present != member.value { conflicts.append(member.name) }
      } else {
        merged[member.name] = member.value
      }
    }
    return (merged, conflicts)
  }
}
