import LibFuzzer
import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetProtocol
@testable import SignetPush
@testable import SignetStorage

// The parsers of an operator's folder and of relying parties' requests are not public.
@testable import SignetDataDirectory
@testable import SignetServer

@main struct FuzzServer {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkSettings(input)
    checkAccount(input)
    checkKeys(input)
    checkOrder(input)
    checkTexts(text)
    checkPosition(text)
  }

  /// A position in a log, as a query of the audit log has it.
  private static func checkPosition(_ text: String) {
    guard let position = LogCursor(text) else { return }
    require(LogCursor(position.description) == position, "a position that is written is read")
  }

  // MARK: The folder

  private static func checkSettings(_ input: [UInt8]) {
    guard let settings = settings(input) else { return }
    require(self.settings(settings.json.bytes) == settings, "settings that are written are read")
    require(settings.listenPort > 0, "a port can be listened on")
    var files = [settings.tls.certificate, settings.tls.key]
    files += [settings.tls.authority, settings.openIDAuthority, settings.push.authority].compactMap(\.self)
    files += [settings.push.apns?.key, settings.push.webPush?.key, settings.push.webhook?.key].compactMap(
      \.self)
    files += [settings.push.fcm?.account].compactMap(\.self)
    for file in files {
      require(file.hasPrefix("/") || !file.contains("/"), "a file lies in the folder or at a full path")
      require(!file.isEmpty && file != ".." && !file.utf8.contains(0), "a file has a name")
    }
    for url in [settings.push.apns?.url, settings.push.fcm?.url, settings.push.webhook?.url] {
      require(url?.hasPrefix("https://") ?? true, "nothing goes in the clear")
    }
    let connections = settings.connections
    require((connections.waiting ?? 0) < connections.total, "there is a connection for who does not wait")
  }

  private static func settings(_ bytes: [UInt8]) -> ServerConfigurationFile? {
    do throws(ServerConfigurationFile.Refusal) { return try ServerConfigurationFile(parsing: bytes) } catch {
      if case .reason(let reason) = error { require(!reason.isEmpty, "a refusal says why") }
      return nil
    }
  }

  // MARK: Key files of push services

  /// The key file of a service account; one without a key gets that of the target, so that its other parts are checked.
  private static func checkAccount(_ input: [UInt8]) {
    guard var object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    if object["private_key"] == "" { object["private_key"] = .string(FixedRSAKey.pem) }
    let file = object.bytes
    guard
      let account = accepted({ () throws(PushSettingsFailure) in try FCMServiceAccount(keyFile: file) })
    else { return }
    require(
      !account.project.isEmpty
        && account.project.utf8.allSatisfy { byte in
          byte == 0x2D || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
        }, "a project is a part of a path")
    let token = made("an assertion") { () throws(JOSEFailure) in
      try JWS.sign(input, with: SigningKey(rs256: account.key, keyID: account.keyID), type: "JWT")
    }
    require(token.split(separator: ".").count == 3, "a key that is read signs")
  }

  /// Private keys: PEM, and DER that the target encodes as PEM, where mutations survive.
  private static func checkKeys(_ input: [UInt8]) {
    checkKey(input)
    let base64 = Base64URL.encode(input).replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    for label in ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"] where input.first == 0x30 {
      checkKey(Array("-----BEGIN \(label)-----\n\(base64)\(padding)\n-----END \(label)-----\n".utf8))
    }
  }

  private static func checkKey(_ pem: [UInt8]) {
    let message: [UInt8] = [1, 2, 3]
    let secret = SecretBytes(copying: pem)
    if let key = accepted({ () throws(CryptoFailure) in try P256.Signing.PrivateKey(pem: secret) }) {
      let signature = made("a signature") { () throws(CryptoFailure) in try key.signature(for: message) }
      require(key.publicKey.isValidSignature(signature, for: message), "a key that is read signs")
      let again = made("a key") { () throws(CryptoFailure) in
        try P256.Signing.PrivateKey(rawRepresentation: key.rawRepresentation)
      }
      require(again.publicKey == key.publicKey, "what is read is the scalar")
    }
    if let key = accepted({ () throws(CryptoFailure) in try RSA.PrivateKey(pem: secret) }) {
      // A key with inconsistent numbers may fail to sign; a consistent one signs.
      _ = accepted { () throws(CryptoFailure) in try key.signature(for: message, .sha256) }
    }
  }

  // MARK: Relying parties

  private static func checkOrder(_ input: [UInt8]) {
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let order = taken({ () throws(Problem) in
        let message: NewTransaction
        do { message = try NewTransaction.schema.read(object, "") } catch { throw Problem(reading: error) }
        return try TransactionDraft(message, from: "Bank")
      })
    else { return }
    require(order.lifetime.map(TransactionDraft.lifetimes.contains) ?? true, "an order ends")
    require(order.numberDigits.map((2...6).contains) ?? true, "a number has 2 to 6 digits")
    if let content = accepted({ () throws(WireFailure) in
      try TransactionContent(order.content, from: .relyingParty(order.from), context: order.context)
    }) {
      let again = made("a content") { () throws(WireFailure) in try TransactionContent(parsing: content.json)
      }
      require(again == content, "what is asked is what devices read")
    }
  }

  /// Returns the parsed request, or `nil` if the client gets an error about it.
  private static func taken<Value>(_ read: () throws(Problem) -> Value) -> Value? {
    do throws(Problem) { return try read() } catch {
      require(
        (400..<500).contains(error.code.status) && Problem(parsing: error.bytes) == error, "a refusal is told"
      )
      return nil
    }
  }

  private static func checkTexts(_ text: String) {
    if let serial = taken({ () throws(Problem) in try TokenSerial(text) }) {
      require(serial.text.utf8.elementsEqual(text.utf8), "a serial number is kept as it is")
    }
    if let address = RateLimitKey(text) {
      require(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address is visible ASCII")
      require(RateLimitKey(text) == address, "an address is one client")
    }
    if let keys = UAFKeys.used(in: end(with: text)) {
      require(UAFKeys.used(in: end(with: UAFKeys.json(keys).text)) == keys, "keys that are kept are read")
    }
  }

  /// The end of an operation with these authenticators, as the database stores it.
  private static func end(with authenticators: String) -> UAFOperationEnd {
    UAFOperationEnd(status: 1200, authenticators: authenticators, time: 0)
  }
}
