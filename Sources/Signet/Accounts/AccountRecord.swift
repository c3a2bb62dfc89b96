import SignetCrypto
import SignetJSON
import SignetOATH
import SignetVault

/// An account as the vault keeps it: a version (1 byte), the length of a JSON text in 4 bytes, the text, and the secret.
///
/// The counter of HOTP and OCRA is a record of its own, so that the vault can take its next value. Version 2 has OCRA and
/// check digits, version 3 SHA-224 and SHA-384; what an earlier one can say is written as that, so that earlier builds read it.
struct AccountRecord {
  private static let version: UInt8 = 3
  private static let limits = JSONLimits(
    maximumDepth: 4, maximumByteCount: 32 << 20, maximumMemberCount: 1 << 20)

  /// The account; its counter is the one of the next code only when it was read with one.
  var account: OTPAccount
  let isExportable: Bool
  let imported: Int64

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "account-\(id)" }

  /// The name of the record of the counter.
  static func counterName(_ id: Account.ID) -> String { "counter-\(id)" }

  /// The account that a record is of; `nil` for other records.
  static func id(ofRecord name: String) -> Account.ID? {
    guard name.hasPrefix("account-") else { return nil }
    return Account.ID(String(name.dropFirst("account-".count)))
  }

  init(_ account: OTPAccount, isExportable: Bool, imported: Int64) {
    (self.account, self.isExportable, self.imported) = (account, isExportable, imported)
  }

  /// The bytes of the record.
  var bytes: SecretBytes {
    var object: JSONObject = [
      "issuer": .string(account.issuer), "name": .string(account.name),
      "algorithm": .string(account.algorithm.rawValue), "digits": .integer(Int64(account.digits)),
      "exportable": .bool(isExportable), "imported": .integer(imported),
    ]
    switch account.kind {
    case .hotp: object["type"] = "hotp"
    case .totp(let period, let start):
      object["type"] = "totp"
      object["period"] = .integer(Int64(period))
      object["start"] = .integer(start)
    case .ocra(let suite, let lengths, _):
      object["type"] = "ocra"
      object["suite"] = .string(suite.description)
      if let lengths {
        object["shortest"] = .integer(Int64(lengths.lowerBound))
        object["longest"] = .integer(Int64(lengths.upperBound))
      }
    }
    if account.hasCheckDigit { object["checkDigit"] = true }
    if let image = account.image { object["image"] = .string(image) }
    if !account.foreign.isEmpty {
      object["foreign"] = .array(
        account.foreign.map {
          .object([
            "format": .string($0.format.rawValue), "name": .string($0.name), "value": .string($0.value),
          ])
        })
    }
    let json = object.bytes
    let length = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: json.count >> $0) }
    let head = SecretBytes(copying: [version] + length + json)
    return account.secret.withSecret { head.joined(with: $0) }
  }

  /// The first version that can say it.
  private var version: UInt8 {
    if !account.algorithm.isStandard { return 3 }
    if case .ocra = account.kind { return 2 }
    return account.hasCheckDigit ? 2 : 1
  }

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - bytes: The record.
  ///   - counter: The counter's record, where there is one.
  /// - Throws: ``VaultFailure``: `tooNew` for what a newer version wrote, `damaged` for what no version writes.
  init(_ bytes: borrowing SecretBytes, counter: UInt64?) throws(VaultFailure) {
    let found = bytes.withUInt8Span { $0.isEmpty ? 0 : $0[0] }
    guard found <= Self.version else { throw .tooNew(found: Int(found), supported: Int(Self.version)) }
    var head: [UInt8] = []
    var secret: SecretBytes?
    bytes.withUInt8Span { bytes in
      guard bytes.count >= 5, bytes[0] > 0 else { return }
      let count = (1...4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
      guard bytes.count >= 5 + count else { return }
      head.reserveCapacity(count)
      for index in 5..<5 + count { head.append(bytes[index]) }
      secret = SecretBytes(byteCount: bytes.count - 5 - count) { output in
        for index in 5 + count..<bytes.count { output.append(bytes[index]) }
      }
    }
    guard let secret else { throw .damaged }
    do {
      let object = try JSONObject(parsing: head, limits: Self.limits)
      let kind: OTPAccount.Kind =
        switch try object.string("type") {
        case "totp":
          .totp(period: Int(clamping: try object.integer("period")), start: try object.integer("start"))
        case "hotp": .hotp(counter: counter ?? 0)
        case "ocra" where found >= 2: try Self.challengeKind(object, counter: counter)
        default: throw VaultFailure.damaged
        }
      guard let algorithm = OATHAlgorithm(rawValue: try object.string("algorithm")) else {
        throw VaultFailure.damaged
      }
      var foreign: [ForeignMember] = []
      for case .object(let member) in try object.optionalArray("foreign") ?? [] {
        guard let format = InterchangeFormat(rawValue: try member.string("format")) else { continue }
        foreign.append(
          ForeignMember(format: format, name: try member.string("name"), value: try member.string("value")))
      }
      account = try OTPAccount(
        issuer: try object.string("issuer"), name: try object.string("name"), kind: kind,
        algorithm: algorithm,
        digits: Int(clamping: try object.integer("digits")),
        hasCheckDigit: found >= 2 ? try object.optionalBool("checkDigit") ?? false : false,
        secret: SharedSecretBox(secret),
        image: try object.optionalString("image"), foreign: foreign)
      isExportable = try object.bool("exportable")
      imported = try object.integer("imported")
    } catch { throw .damaged }
  }

  private static func challengeKind(_ object: JSONObject, counter: UInt64?) throws -> OTPAccount.Kind {
    let suite = try OCRASuite(try object.string("suite"))
    guard suite.hasCounter == (counter != nil) else { throw VaultFailure.damaged }
    var lengths: ClosedRange<Int>?
    if let shortest = try object.optionalInteger("shortest") {
      let (least, most) = (Int(clamping: shortest), Int(clamping: try object.integer("longest")))
      guard least <= most else { throw VaultFailure.damaged }
      lengths = least...most
    }
    return .ocra(suite, lengths: lengths, counter: counter ?? 0)
  }
}
