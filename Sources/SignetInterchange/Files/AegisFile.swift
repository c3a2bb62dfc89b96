import SignetCrypto
import SignetJSON
import SignetOATH

/// The vault of Aegis, documented in docs/vault.md of that project.
enum AegisFile {
  /// The largest number of password slots that are tried.
  private static let maximumSlotCount = 8
  /// The costs that Aegis itself uses.
  private static let cost = Scrypt(cost: 1 << 15, blockSize: 8, parallelization: 1)

  static func read(
    _ file: JSONObject, _ password: SharedSecretBox?
  ) throws(InterchangeFailure) -> ImportedAccounts {
    let version = try file.entryNumber("version") ?? 0
    guard version == 1 else { throw .version(.aegis, version) }
    if case .object(let database) = file["db"] { return try read(database: database) }
    guard let sealed = try file.entryText("db") else { throw .json(.missingMember("db")) }
    guard let password else { throw .passwordNeeded(.aegis) }
    let header = try file.entryObject("header")
    let masterKey = try masterKey(header, password)
    guard var ciphertext = InterchangeText.base64(sealed) else {
      throw .invalid("db", reason: "is not Base64")
    }
    let parameters = try Parameters(header.entryObject("params"))
    ciphertext += parameters.tag
    var plaintext = try PasswordEncryption.open(ciphertext, nonce: parameters.nonce, key: masterKey, .aegis)
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    let database: JSONObject
    do throws(JSONFailure) { database = try JSONObject(parsing: plaintext, limits: AccountFile.limits) } catch
    {
      throw .json(error)
    }
    return try read(database: database)
  }

  /// Returns the master key from the first slot that the password opens.
  private static func masterKey(
    _ header: JSONObject, _ password: SharedSecretBox
  ) throws(InterchangeFailure) -> SecretBytes {
    let slots: [JSONValue]
    do throws(JSONFailure) { slots = try header.array("slots") } catch { throw .json(error) }
    var passwordSlots: [JSONObject] = []
    for case .object(let slot) in slots where slot["type"] == .integer(1) { passwordSlots.append(slot) }
    guard !passwordSlots.isEmpty else { throw .noPasswordSlot }
    for slot in passwordSlots.prefix(maximumSlotCount) {
      let parameters = try Parameters(slot.entryObject("key_params"))
      let wrapped = try slot.hex("key")
      let cost = Scrypt(
        cost: Int(clamping: try slot.entryNumber("n") ?? 0),
        blockSize: Int(clamping: try slot.entryNumber("r") ?? 0),
        parallelization: Int(clamping: try slot.entryNumber("p") ?? 0))
      let salt = try slot.hex("salt")
      do throws(CryptoFailure) {
        let key = try password.withSecret { (password) throws(CryptoFailure) in
          try cost.derive(password: password, salt: salt, byteCount: 32)
        }
        return try AESGCM.open(wrapped, tag: parameters.tag, key: key, nonce: parameters.nonce)
      } catch {
        guard error == .authenticationFailed else { throw .crypto(error) }
      }
    }
    throw .wrongPassword(.aegis)
  }

  private struct Parameters {
    let nonce: [UInt8]
    let tag: [UInt8]

    init(_ object: JSONObject) throws(InterchangeFailure) {
      (nonce, tag) = (try object.hex("nonce"), try object.hex("tag"))
    }
  }

  private static func read(database: JSONObject) throws(InterchangeFailure) -> ImportedAccounts {
    let version = try database.entryNumber("version") ?? 0
    guard (1...3).contains(version) else { throw .version(.aegis, version) }
    let entries: [JSONValue]
    do throws(JSONFailure) { entries = try database.array("entries") } catch { throw .json(error) }
    var imported = ImportedAccounts(.aegis)
    for entry in entries {
      try imported.read(title: entry.entryTitle("issuer", "name")) { () throws(InterchangeFailure) in
        try account(entry.entry())
      }
    }
    return imported
  }

  private static func account(_ entry: JSONObject) throws(InterchangeFailure) -> OTPAccount {
    let info = try entry.entryObject("info")
    let kind = try info.entryKind(entry.entryText("type"), period: "period", counter: "counter")
    var foreign = ForeignMembers(.aegis)
    foreign.collect(from: entry, except: ["type", "name", "issuer", "info"])
    foreign.collect(from: info, inside: "info", except: ["secret", "algo", "digits", kind.parameter])
    return try OTPAccount(
      issuer: try entry.entryText("issuer") ?? "", name: try entry.entryText("name") ?? "", kind: kind,
      algorithm: try info.entryAlgorithm("algo"), digits: try info.entryDigits(),
      secret: try info.entrySecret(), foreign: foreign.members)
  }

  static func write(
    _ writer: inout AccountFile.Collector, _ password: SharedSecretBox?, _ random: some RandomSource
  ) throws(InterchangeFailure) -> [UInt8] {
    let entries = writer.entries { (account) throws(InterchangeFailure) in
      JSONValue.object(try entry(account, random))
    }
    let database: JSONObject = ["version": .integer(1), "entries": .array(entries)]
    var (header, db): (JSONObject, JSONValue) = (["slots": .null, "params": .null], .object(database))
    if let password { (header, db) = try encrypted(database, password, random) }
    let file: JSONObject = ["version": .integer(1), "header": .object(header), "db": db]
    return file.bytes(.pretty)
  }

  private static func entry(
    _ account: OTPAccount, _ random: some RandomSource
  ) throws(InterchangeFailure) -> JSONObject {
    let foreign = ForeignMembers(.aegis, of: account)
    var info: JSONObject = [
      "secret": .string(InterchangeText.base32(account.secret)), "algo": .string(account.algorithm.rawValue),
      "digits": .integer(Int64(account.digits)),
    ]
    if let period = try account.jsonPeriod(.aegis) { info["period"] = .integer(period) }
    if let counter = try account.jsonCounter(.aegis) { info["counter"] = .integer(counter) }
    foreign.write(into: &info, inside: "info")
    var entry: JSONObject = [
      "type": .string(account.kind.host), "uuid": foreign["uuid"] ?? .string(uuid(random)),
      "name": .string(account.name), "issuer": .string(account.issuer),
      "note": foreign["note"] ?? .string(""),
      "icon": foreign["icon"] ?? .null, "info": .object(info),
    ]
    // The file does not include the definitions of groups, so a reference would lead nowhere.
    foreign.write(into: &entry, except: ["info", "group", "groups"])
    return entry
  }

  private static func encrypted(
    _ database: JSONObject, _ password: SharedSecretBox, _ random: some RandomSource
  ) throws(InterchangeFailure) -> (JSONObject, JSONValue) {
    let masterKey = SecretBytes(copying: random.bytes(32))
    let salt = random.bytes(32)
    let (slotNonce, nonce) = (random.bytes(12), random.bytes(12))
    var plaintext = database.bytes
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    do throws(CryptoFailure) {
      let key = try password.withSecret { (password) throws(CryptoFailure) in
        try cost.derive(password: password, salt: salt, byteCount: 32)
      }
      let wrapped = try AESGCM.seal(masterKey, key: key, nonce: slotNonce)
      let sealed = try AESGCM.seal(plaintext, key: masterKey, nonce: nonce)
      let slot: JSONObject = [
        "type": .integer(1), "uuid": .string(uuid(random)), "key": .string(Hex.encode(wrapped.ciphertext)),
        "key_params": .object([
          "nonce": .string(Hex.encode(slotNonce)), "tag": .string(Hex.encode(wrapped.tag)),
        ]),
        "n": .integer(Int64(cost.cost)), "r": .integer(Int64(cost.blockSize)),
        "p": .integer(Int64(cost.parallelization)), "salt": .string(Hex.encode(salt)),
        "repaired": .bool(true),
        "is_backup": .bool(false),
      ]
      let header: JSONObject = [
        "slots": .array([.object(slot)]),
        "params": .object(["nonce": .string(Hex.encode(nonce)), "tag": .string(Hex.encode(sealed.tag))]),
      ]
      return (header, .string(Base64.encode(sealed.ciphertext)))
    } catch { throw .crypto(error) }
  }

  /// Returns a random UUID (RFC 9562 version 4).
  private static func uuid(_ random: some RandomSource) -> String {
    var bytes = random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let hex = Array(Hex.encode(bytes))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
  }
}

extension JSONObject {
  /// Decodes a hexadecimal member.
  fileprivate func hex(_ name: String) throws(InterchangeFailure) -> [UInt8] {
    guard let text = try entryText(name) else { throw .json(.missingMember(name)) }
    do throws(EncodingFailure) { return try Hex.decode(text) } catch {
      throw .invalid(name, reason: "is not hexadecimal")
    }
  }
}
