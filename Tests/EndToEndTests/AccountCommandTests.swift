import Foundation
import Signet
import SignetImages
import SignetJSON
import SignetTestKit
import Testing

/// Accounts of other authenticators, with the built command.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AccountCommandTests {
  private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  private static let counted = "otpauth://hotp/Bank:bob?secret=\(secret)&issuer=Bank&counter=0"
  private static let password = "purple-window-42"

  private let folder: TemporaryFolder
  private let device: InstalledSignet

  init() throws {
    folder = try TemporaryFolder()
    device = InstalledSignet(data: folder.file("device"))
  }

  private func write(_ text: String, _ name: String) throws -> String {
    let path = folder.file(name)
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  private func accounts(_ passwords: [String] = []) async throws -> [JSONObject] {
    let result = try await device.run(["account", "list", "--json"], passwords: passwords)
    try #require(result.status == 0, result.summary)
    return try JSONObject(parsing: Array(result.output.utf8)).array("accounts").compactMap {
      if case .object(let object) = $0 { object } else { nil }
    }
  }

  @Test func importsNamesWhatItSkipsAndMakesCodes() async throws {
    let file = try write(
      """
      \(Self.counted)
      otpauth://totp/Mail:alice?secret=\(Self.secret)&digits=8&period=60
      otpauth://steam/Game:eve?secret=\(Self.secret)
      \(Self.counted.replacing("Bank", with: "Other%20name"))
      """, "uris")
    let result = try await device.run("import", file)
    #expect(result.status == 0, result.summary)
    #expect(result.output == "Imported Bank (bob).\nImported Mail (alice).\nThere already: Bank (bob).\n")
    #expect(result.errorOutput.contains("Not imported: otpauth://steam/Game:eve: codes of the type steam"))
    #expect(!(result.output + result.errorOutput).contains(Self.secret))
    let listed = try await accounts()
    #expect(try listed.map { try $0.string("issuer") } == ["Bank", "Mail"])
    let delete = try "signet account delete \(listed[0].string("id").prefix(8))"
    #expect(result.errorOutput.contains(delete), "\(result.errorOutput)")
    #expect(try listed.allSatisfy { try $0.bool("exportable") && !$0.contains("secret") })
    // RFC 4226 appendix D: each call yields the next code, whichever name selects the account.
    var codes: [String] = []
    for name in ["Bank:bob", "bank", "BOB", try listed[0].string("id")] {
      codes.append(try await device.run("otp", name).output)
    }
    #expect(codes == ["755224\n", "287082\n", "359152\n", "969429\n"])
    let timed = try await device.json("otp", "Mail")
    #expect(try timed.string("code").count == 8)
    #expect(try timed.integer("validUntil") - timed.integer("validFrom") == 60)
    let missing = try await device.run("otp", "nobody")
    #expect(missing.isRefusal(65, "no container and no account is called that"), missing.summary)
    let several = try await device.run("otp")
    #expect(several.isRefusal(64, "there are 2 accounts"), several.summary)
    let more = try write(
      """
      otpauth://totp/Mail:carol?secret=KRUGKIDROVUWG2ZAMJZG653OEBTG66BA
      otpauth://totp/Shop:dave?secret=ONXW2ZJAN52GQZLSEBZWKY3SMV2CAQLB
      otpauth://totp/Shop:dave?secret=MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U
      """, "more")
    #expect(try await device.run("import", more).status == 0)
    let byIssuer = try await device.run("otp", "Mail")
    #expect(byIssuer.isRefusal(65, "; write ISSUER:NAME or the id"), byIssuer.summary)
    let byName = try await device.run("otp", "Shop:dave")
    #expect(byName.isRefusal(65, "2 accounts are called that: "), byName.summary)
    #expect(byName.errorOutput.contains("; name one by its id"), byName.summary)
  }

  @Test func encryptedFilesOfEveryFormatComeBack() async throws {
    _ = try await device.json("import", Self.counted)
    for format in ["aegis", "2fas", "andotp", "pskc"] {
      let path = folder.file("export.\(format)")
      let result = try await device.run(
        "export", "--format", format, "--encrypt", "-o", path, passwords: [Self.password])
      #expect(result.status == 0 && result.output == "Exported 1 account.\n", result.summary)
      #expect(!result.errorOutput.contains("Warning"))
      #expect(permissions(of: path) == 0o600)
      let other = InstalledSignet(data: folder.file("device-\(format)"))
      let imported = try await other.json("import", path, passwords: [Self.password])
      #expect(try imported.string("format") == format && imported.array("imported").count == 1)
      #expect(try await other.run("otp", "Bank").output == "755224\n")
    }
  }

  /// The command line's checks, which are the same for every format; `AccountFileTests` tries each format with a wrong password
  /// and without one.
  @Test func encryptedFilesWantAGoodPasswordAndTheRightOne() async throws {
    _ = try await device.json("import", Self.counted)
    let path = folder.file("export")
    // An attacker who has the file can try passwords without a limit.
    for weak in ["short", "password"] {
      let refused = try await device.run(
        "export", "--format", "aegis", "--encrypt", "-o", path, passwords: [weak])
      #expect(refused.isRefusal(65, "not allowed"), refused.summary)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    let exported = try await device.run(
      "export", "--format", "aegis", "--encrypt", "-o", path, passwords: [Self.password])
    #expect(exported.status == 0, exported.summary)
    let other = InstalledSignet(data: folder.file("other"))
    let wrong = try await other.run("import", path, passwords: ["wrong"])
    #expect(wrong.isRefusal(77, "is wrong, or the file was changed"), wrong.summary)
    let unasked = try await other.run("import", path)
    #expect(unasked.isRefusal(64, "--password-fd"), unasked.summary)
  }

  @Test func aPreSharedKeyOpensATokenFile() async throws {
    let digits = String(repeating: "0123456789abcdef", count: 4)
    let key = try PSKCEncryptionKey(hexadecimal: SecretBytes(copying: Array(digits.utf8)))
    var token = PSKCKey(
      algorithm: PSKCKey.hotp,
      secret: SharedSecretBox(SecretBytes(copying: Array("12345678901234567890".utf8))))
    (token.manufacturer, token.serialNumber, token.counter) = ("Maker", "SN1", 1)
    let document = folder.file("tokens.xml")
    try Data(PSKCContainer(keys: [token]).insecureBytes(encryptedUnder: key)).write(
      to: URL(filePath: document))
    let unasked = try await device.run("import", document)
    #expect(unasked.isRefusal(65, "under a pre-shared key"), unasked.summary)
    let other = try await device.run(
      "import", document, "--transport-key", try write("\(digits.dropLast(32))", "short"))
    #expect(other.isRefusal(77, "the authentication code is wrong"), other.summary)
    let result = try await device.run("import", document, "--transport-key", try write(digits, "key"))
    #expect(result.output == "Imported Maker (SN1).\n", result.summary)
    #expect(try await device.run("otp", "SN1").output == "287082\n")
  }

  @Test func plainFilesAreForTheirOwnerAndWarned() async throws {
    _ = try await device.json("import", Self.counted)
    for format in ["otpauth", "google", "aegis", "2fas", "andotp", "freeotp", "pskc"] {
      let path = folder.file("plain.\(format)")
      let result = try await device.run("export", "--format", format, "-o", path)
      #expect(
        result.status == 0 && result.errorOutput.contains("Warning: this holds the secrets"), result.summary)
      #expect(permissions(of: path) == 0o600)
      let other = InstalledSignet(data: folder.file("plain-\(format)"))
      #expect(try await other.json("import", path).array("imported").count == 1)
    }
    let encrypted = try await device.run("export", "--encrypt", "-o", folder.file("x"), passwords: ["x"])
    #expect(encrypted.isRefusal(64, "has no encryption"), encrypted.summary)
    let nowhere = try await device.run("export")
    #expect(nowhere.isRefusal(64, "give one of --output FILE, --show-qr and --png FILE"), nowhere.summary)
  }

  @Test func qrCodesGoOutAndComeInAcrossPictures() async throws {
    let lines = (0..<30).map { number in
      let secret = Base32.encode(Array("secret number \(number)".utf8))
      return "otpauth://totp/Issuer%20\(number):user?secret=\(secret)&digits=\(6 + number % 2 * 2)"
    }.joined(separator: "\n")
    #expect(try await device.json("import", try write(lines, "many")).array("imported").count == 30)
    let picture = folder.file("export.png")
    let result = try await device.run("export", "--format", "google", "--png", picture)
    #expect(result.status == 0, result.summary)
    let pictures = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("export-") && $0.hasSuffix(".png") }.map { folder.file($0) }.sorted()
    #expect(pictures.count > 1)
    for path in pictures { #expect(permissions(of: path) == 0o600) }
    let other = InstalledSignet(data: folder.file("other"))
    let part = try await other.run(["scan"] + pictures.dropLast())
    #expect(part.isRefusal(65, "missing; scan all of them"), part.summary)
    let whole = try await other.run(["scan"] + pictures.reversed())
    #expect(whole.status == 0 && whole.output.split(separator: "\n").count == 30, whole.summary)

    let single = folder.file("one.png")
    _ = try await device.run("export", "Issuer 3", "--png", single)
    #expect(try QRReader.singleText(inPNGAt: single).hasPrefix("otpauth://totp/Issuer%203:user?secret="))
    let drawn = try await device.run("export", "--show-qr", "Issuer 3")
    #expect(drawn.status == 0 && drawn.output.contains("▀"), drawn.summary)
    let confused = try await device.run("import", single)
    #expect(confused.isRefusal(65, "signet scan"), confused.summary)
  }

  @Test func whatMayNotLeaveDoesNot() async throws {
    _ = try await device.run("import", "--not-exportable", Self.counted)
    let result = try await device.run("export", "-o", folder.file("out"))
    #expect(result.isRefusal(65, "none of these accounts may be exported"), result.summary)
    #expect(result.errorOutput.contains("Not exported: Bank (bob)"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    #expect(try await device.run("otp", "Bank").output == "755224\n")
  }

  @Test func aPasswordProtectsThem() async throws {
    _ = try await device.json("import", Self.counted)
    let weak = try await device.run("account", "protect", passwords: ["password"])
    #expect(weak.status == 65, weak.summary)
    #expect(try await device.run("account", "protect", passwords: [Self.password]).status == 0)
    let unasked = try await device.run("otp", "Bank")
    #expect(unasked.isRefusal(64, "--password-fd"), unasked.summary)
    #expect(try await device.run("otp", "Bank", passwords: [Self.password]).output == "755224\n")
    #expect(try await device.run("account", "unprotect", passwords: [Self.password]).status == 0)
    #expect(try await device.run("otp", "Bank").output == "287082\n")
    #expect(try await device.run("account", "protect", passwords: [Self.password]).status == 0)
    let wrong = try await device.run("otp", "Bank", passwords: ["wrong"])
    #expect(wrong.isRefusal(77, "the password is wrong"), wrong.summary)
    // The password is forgotten: no account can be opened, but all can be deleted.
    let cleared = try await device.run("account", "clear", "--yes")
    #expect(cleared.output == "All accounts were deleted.\n", cleared.summary)
    #expect(try await accounts().isEmpty)
  }

  @Test func renamesAndDeletes() async throws {
    _ = try await device.json("import", Self.counted)
    let renamed = try await device.run("account", "rename", "bob", "--issuer", "Savings", "--to", "robert")
    #expect(renamed.output == "Renamed to Savings (robert).\n", renamed.summary)
    let unasked = try await device.run("account", "delete", "robert")
    #expect(unasked.isRefusal(64, "--yes"), unasked.summary)
    #expect(try await device.run("account", "delete", "robert", "--yes").status == 0)
    #expect(try await accounts().isEmpty)
  }

  @Test func theKeyOfAContainerLeavesOnlyWhereItsServerAllowsIt() async throws {
    for isAllowed in [false, true] {
      let server = try await RunningServer.startWithShop(
        ["--protection", "device"] + (isAllowed ? ["--exportable-otp"] : []))
      let phone = server.device()
      _ = try await phone.json("activate", "--code-file", server.codeFile("alice"))
      let path = folder.file("alice-\(isAllowed)")
      let result = try await phone.run("export", "--container", "alice", "-o", path)
      if isAllowed {
        #expect(result.status == 0, result.summary)
        _ = try await device.json("import", path)
        // Both devices make codes that the server accepts; it accepts each once.
        let code = try await device.json("otp", "alice").string("code")
        #expect(try await server.accepts(code, of: "alice"))
      } else {
        #expect(result.isRefusal(65, "may not leave the device"), result.summary)
      }
      await server.stop()
    }
  }

  /// Imports an OCRA key of the standard's test vectors.
  private func importChallenge(_ suite: String) async throws {
    let suite = try OCRASuite(suite)
    let count = suite.algorithm == .sha512 ? 64 : 32
    let account = try OTPAccount(
      issuer: "Bank", name: "bob", kind: .ocra(suite),
      secret: SharedSecretBox(
        SecretBytes(copying: Array(String(repeating: "1234567890", count: 7).prefix(count).utf8))))
    let contents = try AccountFile.write([account], as: .pskc).contents
    let document = try write(
      String(decoding: contents.withSecret { $0.insecureCopy() }, as: UTF8.self), "ocra")
    let result = try await device.run("import", document)
    #expect(result.output == "Imported Bank (bob).\n", result.summary)
  }

  @Test func answersChallenges() async throws {
    try await importChallenge("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1")
    let listed = try await accounts()
    #expect(try listed.map { try $0.string("type") } == ["ocra"])
    #expect(try listed[0].string("suite") == "OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1")
    let table = try await device.run("account", "list")
    #expect(table.output.contains("challenge"), table.summary)
    func respond(_ words: String..., lines: [String] = []) async throws -> ServerCommand.Result {
      try await device.run(["account", "respond", "Bank"] + words, passwords: lines)
    }
    // A rejected command uses up no counter value.
    let unasked = try await respond("12345678")
    #expect(unasked.isRefusal(64, "--pin-fd"), unasked.summary)
    let closed = try await respond("12345678", "--pin-fd", "77")
    #expect(closed.status != 0 && closed.errorOutput.contains("77"), closed.summary)
    let long = try await respond("123456789", "--pin-fd", "0", lines: ["1234"])
    #expect(long.isRefusal(65, "the challenge has 9 characters; 8 are allowed"), long.summary)
    let letters = try await respond("1234567x", "--pin-fd", "0", lines: ["1234"])
    #expect(letters.isRefusal(65, "must consist of digits"), letters.summary)
    let session = try await respond("12345678", "--pin-fd", "0", "--session", "00", lines: ["1234"])
    #expect(session.isRefusal(65, "does not use the session information"), session.summary)
    let odd = try await respond("12345678", "--session", "0")
    #expect(odd.isRefusal(64, "--session"), odd.summary)
    let empty = try await respond("12345678", "--pin-fd", "0", lines: [""])
    #expect(empty.isRefusal(65, "the PIN is empty"), empty.summary)
    let code = try await device.run("otp", "Bank")
    #expect(code.isRefusal(65, "signet account respond"), code.summary)
    // RFC 6287 appendix C.1.
    let first = try await respond("12345678", "--pin-fd", "0", lines: ["1234"])
    #expect(first.output == "65347737\n", first.summary)
    #expect(try await device.run("account", "protect", passwords: [Self.password]).status == 0)
    let second = try await respond("12345678", "--json", "--pin-fd", "0", lines: [Self.password, "1234"])
    let object = try JSONObject(parsing: Array(second.output.utf8))
    #expect(try object.string("response") == "86775851" && object.integer("counter") == 1)
    let left = try await device.run("export", "-o", folder.file("uris"), passwords: [Self.password])
    #expect(left.isRefusal(65, "otpauth"), left.summary)
    #expect(left.errorOutput.contains("Not exported: Bank (bob)"), left.summary)
  }

  /// Codes of one counter, made by many processes at once, some of them killed: none is shown twice.
  @Test func noCodeTwiceAcrossProcessesAndKills() async throws {
    _ = try await device.json("import", Self.counted)
    try await showsNoneTwice(["otp", "Bank", "--json"], "code")
  }

  /// The same for OCRA responses with a counter.
  @Test func noResponseTwiceAcrossProcessesAndKills() async throws {
    try await importChallenge("OCRA-1:HOTP-SHA512-8:C-QN08")
    try await showsNoneTwice(["account", "respond", "Bank", "00000000", "--json"], "response")
  }

  private func showsNoneTwice(_ words: [String], _ member: String) async throws {
    var random = SeededRandom(test: "killed counters")
    let start = ContinuousClock.now
    let undisturbed = try await device.run(words)
    // The delay adapts: a kill that came too late shortens the next delay, and one that hit lengthens it.
    var whole = start.duration(to: .now)
    var shown = [try JSONObject(parsing: Array(undisturbed.output.utf8)).string(member)]
    var (rounds, deaths) = (0, 0)
    while deaths < KillRounds.count {
      rounds += 1
      let children = try (0..<4).map { _ in
        try device.process(words).start()
      }
      let victim = children[Int.random(in: 0..<4, using: &random)]
      // The moment of the kill is random; the seed repeats it.
      let delay = whole * Double.random(in: 0..<1, using: &random)
      try await Task.sleep(for: delay)
      whole = victim.isRunning ? whole * 1.1 : delay
      victim.kill()
      for child in children {
        let result = try await child.result()
        guard result.status == 0 else {
          #expect(result.status == -SIGKILL, result.summary)
          deaths += 1
          continue
        }
        shown.append(try JSONObject(parsing: Array(result.output.utf8)).string(member))
      }
    }
    #expect(shown.count == 4 * rounds + 1 - deaths && Set(shown).count == shown.count)
    try KillBench.checkDatabase("\(device.data)/vault.sqlite", "counters")
  }
}
