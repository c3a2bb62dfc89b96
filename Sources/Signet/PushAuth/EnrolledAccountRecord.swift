import SignetCrypto
import SignetJSON
import SignetVault

/// The record of an enrolled account: its names, its policies and the IDs of its parts.
struct EnrolledAccountRecord {
  var issuer: String
  var name: String
  var image: String?
  var backgroundColor: String?
  var policies: JSONObject?
  var created: Int64
  /// The display name of a renamed account; ``issuer`` and ``name`` stay, because a URI is matched against them.
  var displayIssuer: String?
  var displayName: String?
  var codes: [Account.ID] = []
  var push: Account.ID?

  /// The IDs of its parts, including parts that were deleted since.
  var members: [Account.ID] { codes + (push.map { [$0] } ?? []) }

  /// Indicates whether any of its parts still exists.
  func hasParts(in records: OpenRecords) -> Bool {
    let names = codes.map(AccountRecord.name) + (push.map { [PushMechanismRecord.name($0)] } ?? [])
    return names.contains(where: Set(records.names).contains)
  }

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "enrolled-\(id)" }

  /// The account ID in a record name; `nil` for other records.
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
    self.issuer = issuer
    self.name = name
    self.created = created
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

  /// Adds the policies, picture and color of a URI; existing values stay.
  ///
  /// - Returns: The names of the policies that differ.
  mutating func merge(policies more: JSONObject?, image: String?, backgroundColor: String?) -> [String] {
    self.image = self.image ?? image
    self.backgroundColor = self.backgroundColor ?? backgroundColor
    let conflicts: [String]
    (policies, conflicts) = Self.merged(policies, more)
    return conflicts
  }

  /// Adds policies to existing ones; existing policies stay.
  ///
  /// - Returns: All policies, and the names of those that differ.
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
