import Foundation
import Signet
import SignetCrypto
import SignetImages
import SignetJSON
import SignetServerTesting
import SignetTestKit
import Testing

/// `signet activate` with an invalid activation code: exit status 65, a message, and no other effect.
@Suite(.timeLimit(.minutes(10))) struct BadCodeTests {
  private let folder: TemporaryFolder
  private let device: InstalledSignet
  private let code: ActivationCode

  init() throws {
    folder = try TemporaryFolder()
    device = InstalledSignet(data: "\(folder.path)/device")
    code = try .unreachable()
  }

  private func expectRefusal(
    _ words: [String], _ text: String, status: Int32 = 65, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try FolderSnapshot(folder.path)
    let result = try await device.run(["activate"] + words)
    #expect(result.isRefusal(status, text), result.summary, sourceLocation: location)
    #expect(result.errorOutput.hasPrefix("signet activate: "), result.summary, sourceLocation: location)
    #expect(!result.errorOutput.contains(code.invite.inviteText), sourceLocation: location)
    #expect(try FolderSnapshot(folder.path) == before, sourceLocation: location)
  }

  private func file(_ bytes: [UInt8], _ name: String = "code") throws -> String {
    let path = "\(folder.path)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  @Test func aGoodCodeGetsAsFarAsTheNetwork() async throws {
    let result = try await device.run("activate", "--code-file", file(Array(code.text.utf8)))
    #expect(result.status == 69 && result.errorOutput.contains("cannot be reached"), result.summary)
  }

  @Test(arguments: [
    "hello", "{}", "[]", "null", "https://example.com/", "{\"ver\":1}",
    "{\"ver\":\"1\"}", "{\"ver\":1,\"ver\":1}", "\u{0}", "{\"ver\":1,\"url\":{}}",
  ])
  func somethingElse(text: String) async throws {
    try await expectRefusal(["--code-file", file(Array(text.utf8))], "this is not an activation code")
  }

  @Test func truncatedAtEveryLength() async throws {
    let bytes = Array(code.text.utf8)
    for count in 1..<bytes.count {
      // Every 64th prefix and the last go through the command; all go through the parser that it calls.
      #expect(throws: ActivationCodeFailure.self) {
        try ActivationCode(parsing: String(decoding: bytes[..<count], as: UTF8.self))
      }
      if count % 64 == 1 || count == bytes.count - 1 {
        try await expectRefusal(
          ["--code-file", file(Array(bytes[..<count]))], "this is not an activation code")
      }
    }
    try await expectRefusal(["--code-file", file([])], "is empty; ask for a new activation code")
  }

  @Test func oversized() async throws {
    let message = "an activation code has at most 2048 bytes"
    for count in [2049, 4096, 1 << 19] {
      let text = String(code.text.dropLast()) + ",\"x\":\"\(String(repeating: "x", count: count))\"}"
      try await expectRefusal(["--code-file", file(Array(text.utf8))], message)
    }
    let text = String(code.text.dropLast()) + ",\"x\":\"\(String(repeating: "x", count: 2000))\"}"
    try await expectRefusal(["--qr", file(try QRCode(text).png(moduleSize: 4))], message)
  }

  @Test(arguments: [0, 2, 99, -1]) func anotherVersion(version: Int64) async throws {
    let text = code.text.replacing("\"ver\":1", with: "\"ver\":\(version)")
    try await expectRefusal(["--code-file", file(Array(text.utf8))], "update Signet")
  }

  @Test(arguments: [
    ("\"url\":\"127.0.0.1:1/main\"", "\"url\":\"http://127.0.0.1:1/main\"", "only https is supported"),
    ("\"url\":\"127.0.0.1:1/main\"", "\"url\":\"127.0.0.1:99999/main\"", "\"url\""),
    ("\"uid\":\"alice\"", "\"uid\":\"\"", "must have 1 to 128 characters"),
    ("\"uid\":\"alice\"", "\"uid\":\"a\\u0007b\"", "has a control"),
    ("\"pin\":[", "\"pin\":[\"AAAA\",", "\"pin\""),
  ])
  func aMemberThatIsWrong(_ member: String, _ wrong: String, _ message: String) async throws {
    let text = code.text.replacing(member, with: wrong)
    #expect(text != code.text)
    try await expectRefusal(["--code-file", file(Array(text.utf8))], message)
  }

  @Test func typedByHand() async throws {
    let typed = code.invite.typedForm
    let wrong = (typed.hasPrefix("0") ? "1" : "0") + typed.dropFirst()
    func words(_ user: String, _ server: String, _ invite: String) -> [String] {
      ["--user", user, "--server", server, "--invite", invite]
    }
    try await expectRefusal(words("alice", "127.0.0.1:1/main", wrong), "typing error")
    try await expectRefusal(words("alice", "127.0.0.1:1/main", "7K3M"), "17 symbols")
    try await expectRefusal(words("alice", "http://127.0.0.1:1/main", typed), "only https is supported")
    try await expectRefusal(words("alice", "nowhere", typed), "use host[:port]/domain")
    try await expectRefusal(words("", "127.0.0.1:1/main", typed), "1 to 128 characters")
    try await expectRefusal(["--server", "127.0.0.1:1/main"], "--user is missing", status: 64)
    try await expectRefusal([], "give the activation code in one way", status: 64)
  }

  @Test func pictures() async throws {
    let good = try QRCode(code.text)
    try await expectRefusal(
      ["--qr", file(try QRCode("WIFI:S:net;;").png())], "this is not an activation code")
    try await expectRefusal(["--qr", file(GreyPNG.file([[UInt8](repeating: 255, count: 99)]))], "no QR code")
    let other = try QRCode(code.text.replacing("alice", with: "bobby"))
    try await expectRefusal(
      ["--qr", file(GreyPNG.file(GreyPNG.rows([good, other])))], "2 QR codes were found")
    let png = try good.png()
    for count in stride(from: 8, to: png.count, by: max(1, png.count / 12)) {
      try await expectRefusal(["--qr", file(Array(png[..<count]))], "damaged or cut short")
    }
    for bytes in [[], Array("GIF89a".utf8), Array(png[..<4]), [UInt8](repeating: 0, count: 5000)] {
      try await expectRefusal(["--qr", file(bytes)], "not a PNG image")
    }
    try await expectRefusal(["--qr", "\(folder.path)/none.png"], "No such file", status: 66)
    try await expectRefusal(["--qr", folder.path], "Is a directory", status: 66)
    try await expectRefusal(["--code-file", "\(folder.path)/none"], "cannot be read", status: 66)
    try await expectRefusal(["--code-file", folder.path], "cannot be read", status: 66)
  }
}

extension ActivationCode {
  /// A valid code of a server at port 1 of loopback: if the command sends anything, its status is that of an unreachable server.
  static func unreachable() throws -> ActivationCode {
    ActivationCode(
      server: try ServerURL("127.0.0.1:1/main"), user: UserID("alice"),
      invite: InviteCode(random: SystemRandomSource()), pins: [SecureRandom.bytes(32)])
  }
}

/// A PNG of 8-bit grey values from its rows, deflated with stored blocks (RFC 1951 section 3.2.4).
enum GreyPNG {
  static func file(_ rows: [[UInt8]]) -> [UInt8] {
    let header = bigEndian(rows.first?.count ?? 0) + bigEndian(rows.count) + [8, 0, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
      + chunk("IDAT", zlib(rows.flatMap { [0] + $0 })) + chunk("IEND", [])
  }

  /// Codes next to each other, 4 pixels for a module, with quiet zones of 4 modules.
  static func rows(_ codes: [QRCode]) -> [[UInt8]] {
    let side = (codes.map(\.side).max() ?? 0) + 8
    return (0..<side * 4).map { y in
      codes.flatMap { code in
        (0..<side * 4).map { x in code.isDark(row: y / 4 - 4, column: x / 4 - 4) ? 0 : 255 }
      }
    }
  }

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    let crc = body.reduce(UInt32.max) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
      }
    }
    return bigEndian(data.count) + body + bigEndian(Int(~crc))
  }

  private static func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65535)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      output += [rest.isEmpty ? 1 : 0]
      output += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
      output += block
    } while !rest.isEmpty
    let (a, b) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
      let a = (sums.0 + UInt32(byte)) % 65521
      return (a, (sums.1 + a) % 65521)
    }
    return output + bigEndian(Int(b << 16 | a))
  }
}
