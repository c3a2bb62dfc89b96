import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import Testing

@Suite("Export files of authenticators")
struct AccountFileTests {
  private static let password = SampleAccounts.box("correct horse")

  private func read(_ text: String, password: SharedSecretBox? = nil) throws -> ImportedAccounts {
    try AccountFile.read(Array(text.utf8), password: password)
  }

  @Test(
    "accounts survive a round trip with all that the format supports",
    arguments: InterchangeFormat.allCases.filter { $0 != .raivo && $0 != .google })
  func roundTrip(format: InterchangeFormat) throws {
    let accounts = try SampleAccounts.rich()
    let written = try AccountFile.write(accounts, as: format)
    #expect(written.count == accounts.count && written.skipped.isEmpty)
    let bytes = written.contents.withSecret { $0.insecureCopy() }
    let imported = try AccountFile.read(bytes)
    #expect(imported.format == format && imported.skipped.isEmpty)
    #expect(imported.accounts.facts == accounts.facts)
    // The imported data is written there again, without additions or losses.
    let again = try AccountFile.write(imported.accounts, as: format)
    #expect(
      try AccountFile.read(again.contents.withSecret { $0.insecureCopy() }).accounts.facts == accounts.facts)
  }

  @Test(
    "an encrypted file is read back with the password only",
    arguments: InterchangeFormat.allCases.filter(\.canBeEncrypted))
  func encrypted(format: InterchangeFormat) throws {
    let accounts = try SampleAccounts.rich()
    let written = try AccountFile.write(accounts, as: format, password: Self.password)
    let bytes = written.contents.withSecret { $0.insecureCopy() }
    // Texts that encrypted bytes do not contain by chance: whole secrets, and a name with a character that Base64 lacks.
    let secret = Array("12345678901234567890".utf8)
    let plain = try AccountFile.write(accounts, as: format).contents.withSecret { $0.insecureCopy() }
    for text in ["alice@example.com", Base32.encode(secret), Base64.encode(secret)] {
      let isPublic = format == .pskc && text.contains("@")  // PSKC encrypts the keys alone
      #expect((bytes.firstRange(of: Array(text.utf8)) != nil) == isPublic, "\(text)")
    }
    // The control: an unencrypted file has the name, and the secret in one of the two forms.
    #expect(plain.firstRange(of: Array("alice@example.com".utf8)) != nil)
    #expect(
      [Base32.encode(secret), Base64.encode(secret)].contains { plain.firstRange(of: Array($0.utf8)) != nil })
    #expect(throws: InterchangeFailure.passwordNeeded(format)) { try AccountFile.read(bytes) }
    #expect(throws: InterchangeFailure.wrongPassword(format)) {
      try AccountFile.read(bytes, password: SampleAccounts.box("wrong"))
    }
    let imported = try AccountFile.read(bytes, password: Self.password)
    #expect(imported.format == format && imported.accounts.facts == accounts.facts)
  }

  @Test("a format without encryption does not take a password")
  func noEncryption() throws {
    for format in InterchangeFormat.allCases where !format.canBeEncrypted {
      #expect(throws: InterchangeFailure.self) {
        try AccountFile.write([], as: format, password: Self.password)
      }
    }
  }

  @Test(
    "an oversized entry is skipped: too many members, too long ones, runs of combining marks",
    arguments: [
      (0..<65).map { #""x\#($0)":\#($0)"# }.joined(separator: ","),
      #""x":"\#(String(repeating: "a", count: 65_536))""#,
      #""\#(String(repeating: "a", count: 257))":1"#,
      #""issuer":"a\#(String(repeating: "\u{301}", count: 17))""#,
    ])
  func leavesOutHeavyOnes(_ members: String) throws {
    func file(_ members: String) -> String {
      """
      {"version": 1, "header": {"slots": null, "params": null}, "db": {"version": 3, "entries": [
        {"type": "totp", "name": "Bob", \(members),
         "info": {"secret": "GEZDGNBVGY3TQOJQ", "algo": "SHA1", "digits": 6, "period": 30}},
        {"type": "totp", "name": "Eve", "issuer": "Example",
         "info": {"secret": "GEZDGNBVGY3TQOJQ", "algo": "SHA1", "digits": 6, "period": 30}}]}}
      """
    }
    let imported = try read(file(members))
    #expect(imported.accounts.map(\.name) == ["Eve"] && imported.skipped.count == 1)
    #expect(try read(file(#""note":"","issuer":"Example""#)).accounts.count == 2)
  }

  @Test("Aegis: unknown members are kept and exported again")
  func aegis() throws {
    let text = """
      {"version": 1, "header": {"slots": null, "params": null}, "db": {"version": 3, "entries": [
        {"type": "totp", "uuid": "3ae6f1ad-2e65-4ed2-a953-1ec0dff2386d", "name": "Bob", "issuer": "Example",
         "note": "a \\"note\\"", "favorite": true, "icon": null, "groups": ["g"],
         "info": {"secret": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "algo": "SHA256", "digits": 8, "period": 20, "x": [1.5]}},
        {"type": "steam", "name": "Eve", "issuer": "Game", "info": {"secret": "AB", "algo": "SHA1", "digits": 5, "period": 30}},
        {"type": "totp", "name": "", "issuer": "", "info": {"secret": "AB"}}, 7]}}
      """
    let imported = try read(text)
    #expect(
      imported.skipped.map(\.reason) == [
        .unsupportedType("steam"), .missing("issuer and account"), .json(.notAnObject),
      ])
    #expect(
      imported.skipped.map(\.title) == ["Game (Eve)", "", ""]
        && imported.skipped.map(\.position) == [2, 3, 4])
    let account = try #require(imported.accounts.first)
    #expect(account.kind == .totp(period: 20) && account.digits == 8 && account.algorithm == .sha256)
    let written = try AccountFile.write([account], as: .aegis).contents.withSecret { $0.insecureCopy() }
    let entry = String(decoding: written, as: UTF8.self)
    for kept in [
      #""note": "a \"note\"""#, #""favorite": true"#, "3ae6f1ad-2e65-4ed2-a953-1ec0dff2386d", "1.5",
    ] {
      #expect(entry.contains(kept))
    }
    #expect(!entry.contains("groups"))
    let uri = try account.insecureURI()
    #expect(!uri.contains("note") && !uri.contains("favorite"))
  }

  @Test("2FAS, andOTP, Raivo, FreeOTP+: small files by hand")
  func byHand() throws {
    let secret = "GEZDGNBVGY3TQOJQ"
    let twoFAS = try read(
      """
      {"services":[{"name":"Shop","secret":"\(secret)","otp":{"account":"bob","digits":6,"counter":7,"tokenType":"HOTP"}},
      {"name":"Steam","secret":"\(secret)","otp":{"account":"x","tokenType":"STEAM"}},
      {"name":"Old","secret":"\(secret)"}],"schemaVersion":3}
      """)
    #expect(
      twoFAS.accounts.map(\.description) == ["Shop (bob)", "Old"]
        && twoFAS.accounts[0].kind == .hotp(counter: 7))
    #expect(twoFAS.skipped.map(\.title) == ["Steam"])
    let andOTP = try read(
      #"[{"secret":"GEZDGNBVGY3TQOJQ====","issuer":"","label":"Shop - bob","digits":6,"type":"TOTP","algorithm":"SHA1","period":30,"tags":["a"]}]"#
    )
    #expect(andOTP.format == .andOTP && andOTP.accounts.map(\.name) == ["Shop - bob"])
    #expect(andOTP.accounts[0].foreign == [ForeignMember(format: .andOTP, name: "tags", value: #"["a"]"#)])
    let raivo = try read(
      #"[{"issuer":"Shop","account":"bob","secret":"GEZDGNBVGY3TQOJQ","algorithm":"SHA512","digits":"8","kind":"HOTP","timer":"0","counter":"5","iconType":"","iconValue":"","pinned":"false"}]"#
    )
    #expect(
      raivo.format == .raivo && raivo.accounts[0].kind == .hotp(counter: 5) && raivo.accounts[0].digits == 8)
    // The counter of FreeOTP+ is that of the last code.
    let freeOTP = try read(
      #"{"tokenOrder":["Shop:bob"],"tokens":[{"algo":"SHA1","counter":-1,"digits":6,"issuerExt":"Shop","label":"bob","period":30,"secret":[-1,0,127],"type":"HOTP"}]}"#
    )
    #expect(freeOTP.accounts[0].kind == .hotp(counter: 0))
    #expect(freeOTP.accounts[0].secret.withSecret { $0.insecureCopy() } == [255, 0, 127])
  }

  @Test("2FAS: plain-text services beside encrypted ones are reported and not imported")
  func plainBesideEncrypted() throws {
    let written = try AccountFile.write(
      [SampleAccounts.account("Bank", "alice")], as: .twoFAS, password: Self.password)
    var file = try JSONObject(parsing: written.contents.withSecret { $0.insecureCopy() })
    file["services"] = .array([
      .object(["name": "Added", "secret": "GEZDGNBVGY3TQOJQ", "otp": .object(["account": "mallory"])])
    ])
    let imported = try read(file.text, password: Self.password)
    #expect(imported.accounts.map(\.description) == ["Bank (alice)"])
    #expect(imported.skipped.map(\.title) == ["Added"] && imported.skipped.map(\.reason) == [.notEncrypted])
    #expect(throws: InterchangeFailure.passwordNeeded(.twoFAS)) { try read(file.text) }
  }

  /// A file with a number of minimal accounts.
  private static func many(_ count: Int, _ format: InterchangeFormat) -> String {
    func joined(_ entry: String) -> String { Array(repeating: entry, count: count).joined(separator: ",") }
    let secret = "GEZDGNBV"
    return switch format {
    case .otpauth: String(repeating: "otpauth://totp/A:a?secret=\(secret)\n", count: count)
    case .google: ""
    case .aegis:
      "{\"version\":1,\"header\":{},\"db\":{\"version\":2,\"entries\":["
        + joined("{\"type\":\"totp\",\"name\":\"a\",\"info\":{\"secret\":\"\(secret)\"}}") + "]}}"
    case .twoFAS: "{\"services\":[" + joined("{\"name\":\"a\",\"secret\":\"\(secret)\"}") + "]}"
    case .andOTP: "[" + joined("{\"type\":\"TOTP\",\"label\":\"a\",\"secret\":\"\(secret)\"}") + "]"
    case .raivo: "[" + joined("{\"kind\":\"TOTP\",\"account\":\"a\",\"secret\":\"\(secret)\"}") + "]"
    case .freeOTP: "{\"tokens\":[" + joined("{\"label\":\"a\",\"secret\":[1,2]}") + "]}"
    case .pskc:
      "<KeyContainer Version=\"1.0\" xmlns=\"urn:ietf:params:xml:ns:keyprov:pskc\">"
        + String(
          repeating:
            "<KeyPackage><Key Id=\"a\" Algorithm=\"hotp\"><Data><Secret><PlainValue>AQID</PlainValue></Secret></Data></Key></KeyPackage>",
          count: count) + "</KeyContainer>"
    }
  }

  @Test(
    "the maximum number of accounts is read, and one more is refused", arguments: InterchangeFormat.allCases)
  func limit(format: InterchangeFormat) throws {
    // One QR code has fewer; several together may have too many.
    let limit = ImportedAccounts.maximumCount
    guard format != .google else { return try limitOfBatches() }
    #expect(try read(Self.many(limit, format)).accounts.count == limit)
    #expect(throws: InterchangeFailure.tooManyAccounts(limit: limit)) {
      try read(Self.many(limit + 1, format))
    }
  }

  private func limitOfBatches() throws {
    let limit = ImportedAccounts.maximumCount
    func batch(_ number: UInt8) -> String {
      let accounts = Array(repeating: [UInt8]([10, 6, 10, 1, 1, 18, 1, 0x61]), count: 5000).flatMap(\.self)
      return "otpauth-migration://offline?data=\(Base64URL.encode(accounts + [40, number]))\n"
    }
    let whole = (1...4).map { batch($0) }.joined()
    #expect(try read(whole).accounts.count == limit)
    #expect(throws: InterchangeFailure.tooManyAccounts(limit: limit)) {
      try read(whole + "otpauth://totp/A:a?secret=GEZDGNBV\n")
    }
  }

  @Test("one URI a line: an invalid line is reported without its secret, and the others are read")
  func lines() throws {
    let text = """
      # accounts
      otpauth://totp/A:a?secret=GEZDGNBV&issuer=A

      otpauth://totp/B:b?secret=0000&issuer=B
      \(MigrationTests.sample)
      """
    let imported = try read(text)
    #expect(imported.accounts.map(\.description) == ["A (a)", "Example (alice@google.com)"])
    #expect(imported.skipped.map(\.title) == ["otpauth://totp/B:b"])
  }

  @Test(
    "refused",
    arguments: [
      ("", InterchangeFailure.unknownFormat), ("hello", .unknownFormat), ("{}", .unknownFormat),
      ("[1]", .unknownFormat),
      ("PK\u{3}\u{4}rest", .zipArchive), ("{\"a\":1,\"a\":2}", .json(.duplicateMember(offset: 7))),
      (#"{"version":2,"header":{},"db":{}}"#, .version(.aegis, 2)),
      (#"{"version":1,"header":{},"db":{"version":4,"entries":[]}}"#, .version(.aegis, 4)),
      (#"{"version":1,"header":{"slots":[]},"db":"AAAA"}"#, .passwordNeeded(.aegis)),
      (#"{"services":[],"schemaVersion":5}"#, .version(.twoFAS, 5)),
      (#"{"services":[],"schemaVersion":4,"servicesEncrypted":"a:b:c"}"#, .passwordNeeded(.twoFAS)),
      ("<html></html>", .unknownFormat), ("<a><b></a>", .xml(reason: "is malformed")),
    ])
  func refused(text: String, failure: InterchangeFailure) {
    #expect(throws: failure) { try read(text) }
  }

  @Test("hostile costs are refused before anything is derived")
  func hostileCosts() {
    let slot =
      #"{"type":1,"key":"00","key_params":{"nonce":"000000000000000000000000","tag":"00000000000000000000000000000000"},"salt":"00","r":8,"p":1,"n":"#
    for (cost, parameter) in [(1 << 30, CryptoFailure.Parameter.scryptCost), (1 << 20, .scryptWork)] {
      let text = #"{"version":1,"header":{"slots":[\#(slot)\#(cost)}]},"db":"AAAA"}"#
      do {
        _ = try read(text, password: Self.password)
        Issue.record("a cost of \(cost) was taken")
      } catch InterchangeFailure.crypto(.parameterOutOfRange(let found, _, _)) {
        #expect(found == parameter)
      } catch { Issue.record("\(error)") }
    }
    #expect(throws: InterchangeFailure.noPasswordSlot) {
      try read(#"{"version":1,"header":{"slots":[{"type":2}]},"db":"AAAA"}"#, password: Self.password)
    }
    // Iterations above ten million: not a backup of andOTP.
    #expect(throws: InterchangeFailure.unknownFormat) {
      try AccountFile.read([0x7F] + [UInt8](repeating: 0x80, count: 99), password: Self.password)
    }
  }
}
