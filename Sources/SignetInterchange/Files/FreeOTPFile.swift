import SignetCrypto
import SignetJSON
import SignetOATH
import SignetSystem

/// The JSON of FreeOTP+: a secret is an array of signed bytes, and the counter is that of the last code, not of the next.
enum FreeOTPFile {
  static func read(_ file: JSONObject) throws(InterchangeFailure) -> ImportedAccounts {
    let tokens: [JSONValue]
    do throws(JSONFailure) { tokens = try file.array("tokens") } catch { throw .json(error) }
    var imported = ImportedAccounts(.freeOTP)
    for token in tokens {
      try imported.read(title: token.entryTitle("issuerExt", "label")) { () throws(InterchangeFailure) in
        try account(token.entry())
      }
    }
    return imported
  }

  private static func account(_ token: JSONObject) throws(InterchangeFailure) -> OTPAccount {
    let kind: OTPAccount.Kind
    if InterchangeText.lowercased(try token.entryText("type") ?? "totp") == "hotp" {
      let last = try token.entryNumber("counter") ?? -1
      guard last >= -1, last < .max else { throw .invalid("counter", reason: "is out of range") }
      kind = .hotp(counter: UInt64(last + 1))
    } else {
      kind = try token.entryKind(token.entryText("type"), period: "period", counter: "counter")
    }
    let internalIssuer = try token.entryText("issuerInt") ?? ""
    var issuer = try token.entryText("issuerExt") ?? ""
    if issuer.isEmpty { issuer = internalIssuer }
    var handledMembers: Set<String> = ["algo", "counter", "digits", "issuerExt", "label", "secret", "type"]
    if case .totp = kind { handledMembers.insert("period") }
    if issuer.hasSameBytes(as: internalIssuer) { handledMembers.insert("issuerInt") }
    var foreign = ForeignMembers(.freeOTP)
    foreign.collect(from: token, except: handledMembers)
    return try OTPAccount(
      issuer: issuer, name: try token.entryText("label") ?? "", kind: kind,
      algorithm: try token.entryAlgorithm("algo"), digits: try token.entryDigits(), secret: try secret(token),
      foreign: foreign.members)
  }

  private static func secret(_ token: JSONObject) throws(InterchangeFailure) -> SharedSecretBox {
    guard case .array(let elements)? = token["secret"] else { throw .missing("secret") }
    guard elements.count <= OTPAccount.maximumSecretByteCount else {
      throw .tooLarge("secret", limit: OTPAccount.maximumSecretByteCount)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(elements.count)
    defer { bytes.withUnsafeMutableBytes { wipe($0) } }
    for element in elements {
      guard case .integer(let number) = element, (-128...255).contains(number) else {
        throw .invalid("secret", reason: "is not an array of bytes")
      }
      bytes.append(UInt8(truncatingIfNeeded: number))
    }
    return SharedSecretBox(SecretBytes(copying: bytes))
  }

  static func write(_ writer: inout AccountFile.Collector) -> [UInt8] {
    var order: [JSONValue] = []
    let tokens = writer.entries { (account) throws(InterchangeFailure) in
      let token = try token(account)
      order.append(.string(account.issuer.isEmpty ? account.name : "\(account.issuer):\(account.name)"))
      return JSONValue.object(token)
    }
    let file: JSONObject = ["tokenOrder": .array(order), "tokens": .array(tokens)]
    return file.bytes
  }

  private static func token(_ account: OTPAccount) throws(InterchangeFailure) -> JSONObject {
    let foreign = ForeignMembers(.freeOTP, of: account)
    let bytes = account.secret.withSecret { secret in
      secret.withTemporaryArray { $0.map { JSONValue.integer(Int64(Int8(bitPattern: $0))) } }
    }
    let counter = try account.jsonCounter(.freeOTP).map { $0 - 1 } ?? 0
    var token: JSONObject = [
      "algo": .string(account.algorithm.rawValue), "counter": .integer(counter),
      "digits": .integer(Int64(account.digits)), "issuerExt": .string(account.issuer),
      "label": .string(account.name), "secret": .array(bytes),
      "type": .string(account.kind.host.uppercased()),
    ]
    token["period"] =
      try account.jsonPeriod(.freeOTP).map { .integer($0) } ?? foreign["period"] ?? .integer(30)
    if let internalIssuer = foreign["issuerInt"] {
      token["issuerInt"] = internalIssuer
    } else if !account.issuer.isEmpty {
      token["issuerInt"] = .string(account.issuer)
    }
    foreign.write(into: &token)
    return token
  }
}
