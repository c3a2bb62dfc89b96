import SignetCrypto
import SignetJSON
import SignetOATH
import SignetSystem

/// The backup of 2FAS.
enum TwoFASFile {
  /// The newest readable schema version, which is also the written one.
  private static let version: Int64 = 4
  private static let iterations = 10_000
  private static let saltByteCount = 256
  /// The plaintext that the app encrypts next to the accounts, to check the password.
  private static let reference =
    "tRViSsLKzd86Hprh4ceC2OP7xazn4rrt4xhfEUbOjxLX8Rc3mkISXE0lWbmnWfggogbBJhtYgpK6fMl1D6m"
    + "tsy92R3HkdGfwuXbzLebqVFJsR7IZ2w58t938iymwG4824igYy1wi6n2WDpO1Q1P69zwJGs2F5a1qP4MyIiDSD7NCV2OvidX"
    + "QCBnDlGfmz0f1BQySRkkt4ryiJeCjD2o4QsveJ9uDBUn8ELyOrESv5R5DMDkD4iAF8TXU7KyoJujd"

  static func read(
    _ file: JSONObject, _ password: SharedSecretBox?
  ) throws(InterchangeFailure) -> ImportedAccounts {
    let version = try file.entryNumber("schemaVersion") ?? 1
    guard (1...Self.version).contains(version) else { throw .version(.twoFAS, version) }
    var services: [JSONValue]
    do throws(JSONFailure) { services = try file.array("services") } catch { throw .json(error) }
    var imported = ImportedAccounts(.twoFAS)
    if let sealed = try file.entryText("servicesEncrypted"), !sealed.isEmpty {
      guard let password else { throw .passwordNeeded(.twoFAS) }
      let encrypted = try decrypted(sealed, password)
      // The app writes no plain accounts into an encrypted file: an attacker can have added these, so they are skipped.
      for plainService in services {
        try imported.read(title: plainService.entryTitle("name", "name")) { () throws(InterchangeFailure) in
          throw .notEncrypted
        }
      }
      services = encrypted
    }
    for service in services {
      try imported.read(title: service.entryTitle("name", "name")) { () throws(InterchangeFailure) in
        try account(service.entry())
      }
    }
    return imported
  }

  /// Decrypts three Base64 parts with colons between them: ciphertext with tag, salt, nonce.
  private static func decrypted(
    _ text: String, _ password: SharedSecretBox
  ) throws(InterchangeFailure) -> [JSONValue] {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map {
      InterchangeText.base64(String($0))
    }
    guard parts.count == 3, let sealed = parts[0], let salt = parts[1], let nonce = parts[2] else {
      throw .invalid("servicesEncrypted", reason: "does not have three parts in Base64")
    }
    let key = try PasswordEncryption.key(password, salt: salt, iterations: iterations, .sha256)
    var plaintext = try PasswordEncryption.open(sealed, nonce: nonce, key: key, .twoFAS)
    defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
    let value: JSONValue
    do throws(JSONFailure) { value = try JSONValue(parsing: plaintext, limits: AccountFile.limits) } catch {
      throw .json(error)
    }
    guard case .array(let services) = value else {
      throw .json(.wrongType(member: "servicesEncrypted", expected: .array))
    }
    return services
  }

  private static func account(_ service: JSONObject) throws(InterchangeFailure) -> OTPAccount {
    let otp = try service.entryObject("otp")
    let kind = try otp.entryKind(otp.entryText("tokenType"), period: "period", counter: "counter")
    let name = try service.entryText("name") ?? ""
    var account = try otp.entryText("account") ?? ""
    var foreign = ForeignMembers(.twoFAS)
    var handledMembers: Set<String> = ["secret", "otp"]
    // The name of the service is the issuer only if the file has no issuer.
    let issuer = try otp.entryText("issuer") ?? name
    if name.hasSameBytes(as: issuer) { handledMembers.insert("name") }
    if account.isEmpty { account = try otp.entryText("label") ?? "" }
    foreign.collect(from: service, except: handledMembers)
    // The link repeats the secret and all other parameters.
    foreign.collect(
      from: otp, inside: "otp",
      except: ["account", "issuer", "digits", "algorithm", "tokenType", "link", kind.parameter])
    return try OTPAccount(
      issuer: issuer, name: account, kind: kind, algorithm: try otp.entryAlgorithm("algorithm"),
      digits: try otp.entryDigits(), secret: try service.entrySecret(), foreign: foreign.members)
  }

  static func write(
    _ writer: inout AccountFile.Collector, _ password: SharedSecretBox?, _ random: some RandomSource
  ) throws(InterchangeFailure) -> [UInt8] {
    var position: Int64 = -1
    let services = writer.entries { (account) throws(InterchangeFailure) in
      position += 1
      return JSONValue.object(try service(account, position))
    }
    var file: JSONObject = [
      "services": .array(password == nil ? services : []), "groups": .array([]), "updatedAt": .integer(0),
      "schemaVersion": .integer(version),
    ]
    if let password {
      let salt = random.bytes(saltByteCount)
      let key = try PasswordEncryption.key(password, salt: salt, iterations: iterations, .sha256)
      var plaintext = JSONValue.array(services).bytes
      defer { plaintext.withUnsafeMutableBytes { wipe($0) } }
      for (name, text) in [("servicesEncrypted", plaintext), ("reference", Array(reference.utf8))] {
        let nonce = random.bytes(AESGCM.nonceByteCount)
        let sealed = try PasswordEncryption.seal(text, nonce: nonce, key: key)
        let parts = [sealed.ciphertext + sealed.tag, salt, nonce]
        file[name] = .string(parts.map { Base64.encode($0) }.joined(separator: ":"))
      }
    }
    return file.bytes
  }

  private static func service(
    _ account: OTPAccount, _ position: Int64
  ) throws(InterchangeFailure) -> JSONObject {
    let foreign = ForeignMembers(.twoFAS, of: account)
    var otp: JSONObject = [
      "account": .string(account.name), "issuer": .string(account.issuer),
      "digits": .integer(Int64(account.digits)), "algorithm": .string(account.algorithm.rawValue),
      "tokenType": .string(account.kind.host.uppercased()),
      "label": foreign["otp.label"] ?? .string(account.name),
      "source": foreign["otp.source"] ?? .string("Manual"),
    ]
    if let period = try account.jsonPeriod(.twoFAS) { otp["period"] = .integer(period) }
    if let counter = try account.jsonCounter(.twoFAS) { otp["counter"] = .integer(counter) }
    foreign.write(into: &otp, inside: "otp")
    let title = account.issuer.isEmpty ? account.name : account.issuer
    var service: JSONObject = [
      "name": foreign["name"] ?? .string(title), "secret": .string(InterchangeText.base32(account.secret)),
      "updatedAt": foreign["updatedAt"] ?? .integer(0), "otp": .object(otp),
      "order": .object(["position": .integer(position)]),
    ]
    // The file does not include the definitions of groups, so a reference would lead nowhere.
    foreign.write(into: &service, except: ["otp", "groupId"])
    return service
  }
}
