import Foundation
import SignetImages
import SignetTestKit
import Testing

/// Texts of every encoding mode and of critical sizes.
let roundTripTexts: [String] = [
  "a", "0", "0123456789", "HTTPS://EXAMPLE.ORG/ABC", "https://example.org/path?query=1&x=%20",
  "otpauth://totp/Example:alice@example.org?secret=JBSWY3DPEHPK3PXP&issuer=Example&digits=6",
  #"{"code":"invite","url":"https://id.example.org/","user":"zoë"}"#,
  "ÄÖÜ äöü ß é ñ", "日本語のテキスト", "Ελληνικά, русский, עברית, العربية", "👩‍👩‍👧‍👦 🏳️‍🌈 e\u{301}", "\u{FEFF}with a mark",
  "\u{0}", "a\u{0}b", "tab\tline\r\nend\n", " leading and trailing ",
  "\u{1}\u{2}\u{7F}\u{80}\u{9F}\u{A0}\u{FF}",
  String((0...0x17F).compactMap(Unicode.Scalar.init).map(Character.init)),
  String(repeating: "9", count: 5596), String(repeating: "A", count: 3391),
  String(repeating: "a", count: QRCode.maximumByteCount), String(repeating: "é", count: 1165),
]

@Suite("QR codes made and read", .timeLimit(.minutes(10))) struct QRRoundTripTests {
  @Test("a code written as PNG is read back", arguments: roundTripTexts.indices)
  func pngRoundTrip(_ index: Int) throws {
    let text = roundTripTexts[index]
    let read = try QRReader.singleText(inPNG: try QRCode(text).png(moduleSize: 4))
    #expect(Array(read.utf8) == Array(text.utf8))
  }

  @Test("text of every length up to 300 bytes survives a round trip")
  func everyLength() throws {
    for count in stride(from: 1, through: 300, by: 7) {
      let text = String((0..<count).map { Character(Unicode.Scalar(UInt8(33 + ($0 * 31 + count) % 90))) })
      #expect(try QRReader.texts(inPNG: QRCode(text).png(moduleSize: 3)) == [text])
    }
  }

  @Test(
    "module sizes and quiet zones", arguments: [(2, 4), (3, 4), (8, 4), (20, 4), (8, 1), (8, 32), (64, 4)])
  func measures(_ moduleSize: Int, _ quietZone: Int) throws {
    let png = try QRCode("measure").png(moduleSize: moduleSize, quietZone: quietZone)
    #expect(try QRReader.singleText(inPNG: png) == "measure")
    let side = (21 + 2 * quietZone) * moduleSize
    #expect(Array(png[16..<24]) == SamplePNG.bigEndian(side) + SamplePNG.bigEndian(side))
  }

  @Test(
    "module sizes and quiet zones out of range are refused",
    arguments: [(0, 4), (65, 4), (-1, 4), (8, -1), (8, 33)])
  func refusedMeasures(_ moduleSize: Int, _ quietZone: Int) throws {
    let code = try QRCode("measure")
    #expect(throws: QRFailure.measureOutOfRange(moduleSize: moduleSize, quietZone: quietZone)) {
      try code.png(moduleSize: moduleSize, quietZone: quietZone)
    }
  }

  @Test("an image that the reader would refuse is not written")
  func tooWide() throws {
    let code = try QRCode(String(repeating: "a", count: QRCode.maximumByteCount))
    #expect(throws: QRFailure.measureOutOfRange(moduleSize: 45, quietZone: 4)) {
      try code.png(moduleSize: 45)
    }
    #expect(try QRReader.singleText(inPNG: code.png(moduleSize: 20)).utf8.count == QRCode.maximumByteCount)
  }

  @Test("an empty text and a too long one are refused")
  func limits() {
    #expect(throws: QRFailure.emptyText) { try QRCode("") }
    for count in [QRCode.maximumByteCount + 1, 7089, 7090, 1_000_000] {
      #expect(throws: QRFailure.textTooLong(byteCount: count)) {
        try QRCode(String(repeating: "a", count: count))
      }
    }
    #expect(throws: QRFailure.textTooLong(byteCount: 2332)) {
      try QRCode("\u{0}" + String(repeating: "a", count: 2331))
    }
  }

  @Test("the same text gives the same symbol, another text another one")
  func equality() throws {
    #expect(try QRCode("one") == QRCode("one"))
    #expect(try QRCode("one") != QRCode("two"))
    #expect(try QRCode("one").side == 21)
    #expect(try QRCode("one").isDark(row: 0, column: 0))
    #expect(try !QRCode("one").isDark(row: -1, column: 0))
    #expect(try !QRCode("one").isDark(row: 0, column: 21))
  }

  @Test("a code's description never contains its text")
  func redaction() throws {
    let code = try QRCode("secret")
    #expect("\(code)" == "QR code of 21 x 21 modules")
    #expect(String(reflecting: code) == "QR code of 21 x 21 modules")
    var dumped = ""
    dump(code, to: &dumped)
    #expect(!dumped.contains("true") && !dumped.contains("false"))
  }

  @Test("50 tasks encode and read at once")
  func parallel() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<50 {
        group.addTask {
          let text = "task \(index) " + String(repeating: "x", count: index * 4)
          return try QRReader.singleText(inPNG: QRCode(text).png(moduleSize: 3)) == text
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }
}

/// The path of an independent reader, if this machine has one.
private let zbarimg = ["/usr/bin/zbarimg", "/usr/local/bin/zbarimg", "/opt/homebrew/bin/zbarimg"]
  .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite("QR code files", .timeLimit(.minutes(10))) struct QRFileTests {
  @Test("a written file has mode 0600, is replaced atomically and leaves no temporary file")
  func writing() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/code.png"
    try QRCode("first").writePNG(to: path)
    try QRCode("second").writePNG(to: path, moduleSize: 3, quietZone: 5)
    #expect(try QRReader.singleText(inPNGAt: path) == "second")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["code.png"])
  }

  @Test("a link at the path is replaced, not followed")
  func link() throws {
    let folder = try TemporaryFolder()
    let target = folder.path + "/target"
    try Data("keep".utf8).write(to: URL(filePath: target))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/code.png", withDestinationPath: target)
    try QRCode("text").writePNG(to: folder.path + "/code.png")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "keep")
    #expect(try QRReader.singleText(inPNGAt: folder.path + "/code.png") == "text")
  }

  @Test("a missing folder and a folder in place of a file are errors")
  func refusals() throws {
    let folder = try TemporaryFolder()
    #expect(throws: QRFailure.cannotWrite(code: ENOENT)) {
      try QRCode("x").writePNG(to: folder.path + "/none/code.png")
    }
    #expect(throws: QRFailure.cannotWrite(code: EISDIR)) { try QRCode("x").writePNG(to: folder.path) }
    #expect(throws: QRFailure.cannotRead(code: ENOENT)) {
      try QRReader.texts(inPNGAt: folder.path + "/none.png")
    }
    #expect(throws: QRFailure.cannotRead(code: EISDIR)) { try QRReader.texts(inPNGAt: folder.path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test("a file over 10 MiB is not read to its end")
  func endless() throws {
    #expect(throws: QRFailure.fileTooLarge) { try QRReader.texts(inPNGAt: "/dev/zero") }
    #expect(throws: QRFailure.notPNG) { try QRReader.texts(inPNGAt: "/dev/null") }
  }

  @Test(
    "zbarimg reads what was written",
    .enabled(if: zbarimg != nil || ContinuousIntegration.isHere, "needs zbar-tools"),
    arguments: [0, 5, 6, 7, 8, 20])
  func independentReader(_ index: Int) throws {
    let folder = try TemporaryFolder()
    try QRCode(roundTripTexts[index]).writePNG(to: folder.path + "/code.png")
    let result = try ChildCommand([
      try #require(zbarimg), "--quiet", "--raw", "--nodbus", "-Sbinary", folder.path + "/code.png",
    ]).finish()
    #expect(result.status == 0)
    #expect(result.outputBytes == Array(roundTripTexts[index].utf8))
  }
}
