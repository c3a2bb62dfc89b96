import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetVault

/// An account in the vault, in the format of ``FramedRecord``.
///
/// The counter of HOTP and OCRA is a separate record, so the vault can increment it. Version 2 adds OCRA and check digits, version
/// 3 adds SHA-224 and SHA-384. Each account is written in the lowest sufficient version, so that earlier builds can read it.
struct AccountRecord {
  private static let version: UInt8 = 3
  private static let limits = JSONLimits(
    maximumDepth: 4, maximumByteCount: 32 << 20, maximumMemberCount: 1 << 20)

  /// The account; the counter of HOTP and OCRA is only right if the record was read with the counter's record.
  var account: OTPAccount
  let isExportable: Bool
  let imported: Int64

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "account-\(id)" }

  /// The name of the record of the counter.
  static func counterName(_ id: Account.ID) -> String { "counter-\(id)" }

  /// The account ID in a record name; `nil` for other records.
  static func id(ofRecord name: String) -> Account.ID? {
    guard name.hasPrefix("account-") else { return nil }
    return Account.ID(String(name.dropFirst("account-".count)))
  }

  init(_ account: OTPAccount, isExportable: Bool, imported: Int64) {
    self.account = account
    self.isExportable = isExportable
    self.imported = imported
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
    return account.secret.withSecret { FramedRecord.bytes(version: version, json: object.bytes, secret: $0) }
  }

  /// The lowest version that can represent the account.
  private var version: UInt8 {
    if !account.algorithm.isStandard { return 3 }
    if case .ocra = account.kind { return 2 }
    return account.hasCheckDigit ? 2 : 1
  }

  /// Parses a record.
  ///
  /// - Parameters:
  ///   - bytes: The record.
  ///   - counter: The value of the counter's record, if there is one.
  /// - Throws: ``VaultFailure``: `tooNew` for a record of a newer version, `damaged` for an invalid one.
  init(_ bytes: borrowing SecretBytes, counter: UInt64?) throws(VaultFailure) {
    let framed = try FramedRecord(bytes, newest: Self.version)
    let found = framed.version
    do {
      let object = try JSONObject(parsing: framed.json, limits: Self.limits)
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
        secret: SharedSecretBox(framed.secret.copy()),
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
      let (minimum, maximum) = (Int(clamping: shortest), Int(clamping: try object.integer("longest")))
      guard minimum <= maximum else { throw VaultFailure.damaged }
      lengths = minimum...maximum
    }
    return .ocra(suite, lengths: lengths, counter: counter ?? 0)
  }
}
