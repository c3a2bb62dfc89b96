import LibFuzzer
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
@testable import SignetUAFClient
import SignetVault

// The vault's records of accounts and containers, and the apps' inputs, are parsed behind the public types.
@testable import Signet
@testable import SignetHTTPClient
@testable import SignetIdentifiers
@testable import SignetSystem
@testable import SignetUAF

@main struct FuzzRecords {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkFrame(input)
    checkBinding(input)
    checkMetadata(input)
    checkDeviceState(input)
    checkPayload(input)
    checkKey(input)
    checkCookie(String(decoding: input, as: UTF8.self))
    // Framed here, since a change of the length would leave nothing to read.
    for version in UInt8(1)...3 {
      let record = FramedRecord.bytes(version: version, json: input, secret: secret)
      checkRecords(record, counter: version == 2 ? 7 : nil)
    }
  }

  private static var secret: SecretBytes { SecretBytes(copying: [UInt8](1...20)) }

  /// The `Set-Cookie` value of a UAF server: the name, `;` and the attributes, for one host.
  private static func checkCookie(_ text: String) {
    for url in ["https://www.id.example/uaf/1.1/", "https://[2001:db8::1]:8443/"] {
      guard let cookie = UAFCookie(setCookie: text, from: url) else { continue }
      let host = url.contains("[") ? "[2001:db8::1]" : "www.id.example"
      require(
        cookie.host == host || (cookie.includesSubdomains && host.hasSuffix(".\(cookie.host)")),
        "a cookie is of its server")
      require(!cookie.value.isEmpty && cookie.path.hasPrefix("/"), "a cookie has a value and a path")
    }
  }

  // MARK: Records

  private static func checkFrame(_ input: [UInt8]) {
    let bytes = SecretBytes(copying: input)
    guard let frame = accepted({ () throws(VaultFailure) in try FramedRecord(bytes, newest: 3) }) else {
      return
    }
    require((1...3).contains(frame.version), "a version is one of ours")
    let again = FramedRecord.bytes(version: frame.version, json: frame.json, secret: frame.secret)
    let isSame = again.isEqual(to: bytes)
    require(isSame, "a frame has one form")
    checkRecords(bytes, counter: nil)
  }

  /// A record that is read, printed and read again is printed in the same way.
  private static func checkRecords(_ bytes: borrowing SecretBytes, counter: UInt64?) {
    if let record = accepted({ () throws(VaultFailure) in try AccountRecord(bytes, counter: counter) }) {
      let printed = record.bytes
      let again = made("a printed account") { () throws(VaultFailure) in
        try AccountRecord(printed, counter: counter)
      }
      let isSame = again.bytes.isEqual(to: printed)
      require(isSame && again.account.makesSameCodes(as: record.account), "an account loses nothing")
    }
    if let record = accepted({ () throws(VaultFailure) in try PushMechanismRecord(bytes) }) {
      let printed = record.bytes
      let again = made("a printed mechanism") { () throws(VaultFailure) in try PushMechanismRecord(printed) }
      let isSame = again.bytes.isEqual(to: printed)
      require(isSame, "a mechanism loses nothing")
    }
    if let record = accepted({ () throws(VaultFailure) in try EnrolledAccountRecord(bytes) }) {
      let printed = record.bytes
      let again = made("a printed account") { () throws(VaultFailure) in try EnrolledAccountRecord(printed) }
      let isSame = again.bytes.isEqual(to: printed)
      require(isSame && again.members == record.members, "an account loses none of its parts")
    }
  }

  // MARK: Metadata

  private static func checkBinding(_ input: [UInt8]) {
    guard let binding = accepted({ () throws(WireFailure) in try ContainerBinding(parsing: input) }) else {
      return
    }
    let again = made("a printed binding") { () throws(WireFailure) in
      try ContainerBinding(parsing: binding.bytes)
    }
    require(again.bytes == binding.bytes && again.profile == binding.profile, "a binding loses nothing")
  }

  private static func checkMetadata(_ input: [UInt8]) {
    let metadata = ContainerMetadata(parsing: input)
    require(ContainerMetadata(parsing: metadata.bytes).object == metadata.object, "metadata loses nothing")
    if let account = accepted({ () throws(SignetError) in try metadata.account() }) { check(account) }
    for id in metadata.accountIDs {
      if let account = accepted({ () throws(SignetError) in try metadata.account(id) }) { check(account) }
    }
    for isRenewal in [false, true] {
      let next = ContainerMetadata(
        parsing: ContainerMetadata.carrying(input, over: Array("{\"x\":1}".utf8), isRenewal: isRenewal))
      require(next.object["x"] == 1, "what is the new container's own stays")
      require(!isRenewal || next.object["account"] == metadata.object["account"], "a lock goes along")
    }
  }

  private static func check(_ state: AccountState) {
    let again = made("a printed account state") { () throws(SignetError) in try AccountState(state.json) }
    require(again.json == state.json && again.lock == state.lock, "an account state loses nothing")
    let boot = BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 1)
    for wall in [Int64.min, 0, 1_700_000_000, .max] {
      let now = TrustedTime(boot: boot, millisecondsAwake: 0, wallSeconds: wall)
      for moment in [state.used, state.reached] {
        guard let moment else { continue }
        require(moment.seconds(until: now) >= 0, "no time goes backwards")
        _ = moment.isAhead(of: now)
      }
    }
  }

  // MARK: UAF

  private static func checkDeviceState(_ input: [UInt8]) {
    guard let state = accepted({ () throws(JSONFailure) in try UAFDeviceState(parsing: input) }) else {
      return
    }
    let again = made("a printed state") { () throws(JSONFailure) in try UAFDeviceState(parsing: state.bytes) }
    require(again == state, "a state loses nothing")
    _ = state.information
  }

  private static func checkKey(_ input: [UInt8]) {
    guard let id = StoredUAFKey.keyID(of: "key-\(String(repeating: "A", count: 43))") else {
      return require(false, "a key has a name")
    }
    guard let key = StoredUAFKey(id, input) else { return }
    let again = StoredUAFKey(id, key.record.insecureCopy())
    require(again?.record.insecureCopy() == key.record.insecureCopy(), "a key loses nothing")
  }

  private static func checkPayload(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    check(accepted { () throws(UAFPayloadFailure) in try DeliveredPayload(json: input) })
    check(accepted { () throws(UAFPayloadFailure) in try DeliveredPayload(anyForm: text) })
    check(accepted { () throws(UAFPayloadFailure) in try DeliveredPayload(base64URL: text) })
    check(accepted { () throws(UAFPayloadFailure) in try DeliveredPayload(enrolmentResponse: input) })
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }) else { return }
    _ = accepted { () throws(JSONFailure) in try UAFOperations.RemoteTarget(object) }
    if let url = HTTPSURL(text) {
      require(!url.path.contains("?") && url.path.hasPrefix("/"), "a path is one")
      require(HTTPSURL(url.origin + url.path) == url, "a URL has one form")
    }
  }

  private static func check(_ delivered: DeliveredPayload?) {
    guard case .plain(let object)? = delivered?.content,
      let payload = accepted({ () throws(UAFPayloadFailure) in
        try OutOfBandPayload(object, wasEncrypted: false)
      })
    else { return }
    require(
      (1...256).contains(payload.token.utf8.count)
        && payload.token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a token is a word")
    require(payload.redeemURL.lowercased().hasPrefix("https://"), "nothing goes in the clear")
  }
}
