import SignetCrypto
import SignetJSON
import SignetOATH

/// The backup of andOTP: a JSON array, plain or encrypted with a password.
enum AndOTPFile {
  private static let saltByteCount = 12
  /// Within the range from which the app itself draws a random number.
  private static let exportIterations = 150_000
  private static let maximumIterations: UInt32 = 10_000_000

  static func matches(_ entries: [JSONValue]) -> Bool {
    guard case .object(let entry)? = entries.first else { return entries.isEmpty }
    return entry.contains("secret") && entry.contains("type")
  }

  static func read(_ entries: [JSONValue]) throws(InterchangeFailure) -> ImportedAccounts {
    var imported = ImportedAccounts(.andOTP)
    for entry in entries {
      try imported.read(title: entry.entryTitle("issuer", "label")) { () throws(InterchangeFailure) in
        try account(entry.entry())
      }
    }
    return imported
  }

  private static func account(_ entry: JSONObject) throws(InterchangeFailure) -> OTPAccount {
    let kind = try entry.entryKind(entry.entryText("type"), period: "period", counter: "counter")
    var foreign = ForeignMembers(.andOTP)
    foreign.collect(
      from: entry, except: ["secret", "issuer", "label", "digits", "type", "algorithm", kind.parameter])
    return try OTPAccount(
      issuer: try entry.entryText("issuer") ?? "", name: try entry.entryText("label") ?? "", kind: kind,
      algorithm: try entry.entryAlgorithm("algorithm"), digits: try entry.entryDigits(),
      secret: try entry.entrySecret(), foreign: foreign.members)
  }

  /// Indicates whether bytes can be an encrypted backup: iterations in 4 bytes, salt, nonce, ciphertext, tag.
  static func canBeEncrypted(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 4 + saltByteCount + AESGCM.nonceByteCount + AESGCM.tagByteCount + 2 else {
      return false
    }
    return (1...maximumIterations).contains(iterations(bytes))
  }

  private static func iterations(_ bytes: [UInt8]) -> UInt32 {
    bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  static func readEncrypted(
    _ bytes: [UInt8], _ password: SharedSecretBox
  ) throws(InterchangeFailure) -> ImportedAccounts {
    let key = try PasswordEncryption.key(
      password, salt: Array(bytes[4..<4 + saltByteCount]), iterations: Int(iterations(bytes)), .sha1)
    let rest = bytes.dropFirst(4 + saltByteCount)
    var plaintext = try PasswordEncryption.open(
      Array(rest.dropFirst(AESGCM.nonceByteCount)), nonce: Array(rest.prefix(AESGCM.nonceByteCount)),
      key: key,
      .andOTP)
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    let value: JSONValue
    do throws(JSONFailure) { value = try JSONValue(parsing: plaintext, limits: AccountFile.limits) } catch {
      throw .json(error)
    }
    guard case .array(let entries) = value else {
      throw .json(.wrongType(member: "the backup", expected: .array))
    }
    return try read(entries)
  }

  static func write(
    _ writer: inout AccountFile.Collector, _ password: SharedSecretBox?, _ random: some RandomSource
  ) throws(InterchangeFailure) -> [UInt8] {
    let entries = writer.entries { (account) throws(InterchangeFailure) in
      JSONValue.object(try entry(account))
    }
    var plaintext = JSONValue.array(entries).bytes
    guard let password else { return plaintext }
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    let (salt, nonce) = (random.bytes(saltByteCount), random.bytes(AESGCM.nonceByteCount))
    let key = try PasswordEncryption.key(password, salt: salt, iterations: exportIterations, .sha1)
    let sealed = try PasswordEncryption.seal(plaintext, nonce: nonce, key: key)
    let iterations = stride(from: 24, through: 0, by: -8).map { UInt8(exportIterations >> $0 & 0xFF) }
    return iterations + salt + nonce + sealed.ciphertext + sealed.tag
  }

  private static func entry(_ account: OTPAccount) throws(InterchangeFailure) -> JSONObject {
    let foreign = ForeignMembers(.andOTP, of: account)
    var entry: JSONObject = [
      "secret": .string(InterchangeText.base32(account.secret)), "issuer": .string(account.issuer),
      "label": .string(account.name), "digits": .integer(Int64(account.digits)),
      "type": .string(account.kind.host.uppercased()), "algorithm": .string(account.algorithm.rawValue),
      "thumbnail": foreign["thumbnail"] ?? .string("Default"),
      "last_used": foreign["last_used"] ?? .integer(0),
      "used_frequency": foreign["used_frequency"] ?? .integer(0),
    ]
    if let period = try account.jsonPeriod(.andOTP) { entry["period"] = .integer(period) }
    if let counter = try account.jsonCounter(.andOTP) { entry["counter"] = .integer(counter) }
    entry["tags"] = foreign["tags"] ?? .array([])
    foreign.write(into: &entry)
    return entry
  }
}
