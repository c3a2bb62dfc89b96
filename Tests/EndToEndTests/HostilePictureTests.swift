import Foundation
import SignetTestKit
import Testing

/// Pictures that are made to take long; the number of work steps decides a rejection (`FinderSearchTests` of SignetQRTests).
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: FakeServer.canRun, "needs python3"))
struct HostilePictureTests {
  /// A picture filled with copies of one pattern.
  struct Picture: Sendable, CustomTestStringConvertible {
    enum Kind: String, Sendable {
      /// Finder patterns, dark on light.
      case dark
      /// Finder patterns, light on dark.
      case light
      /// The smallest readable codes, with the content `1`.
      case codes
    }

    let kind: Kind
    /// The pixels of a module.
    let module: Int
    /// The distance between two patterns, in modules.
    var pitch = 8
    /// The pixels on a side; a multiple of 8.
    var side = 4000

    var testDescription: String { "\(kind.rawValue), \(side) pixels, modules of \(module) each \(pitch)" }

    private static let finder = [0x7F, 0x41, 0x5D, 0x5D, 0x5D, 0x41, 0x7F]
    private static let code = [
      0x1FDF7F, 0x105541, 0x17505D, 0x175E5D, 0x17415D, 0x105A41, 0x1FD57F, 0xF00, 0x19CA2F, 0x140F2B,
      0xCE27C, 0xF8CD4, 0xCC5C5, 0x1DC7, 0x1FC982, 0x105728, 0x17567F, 0x17432B, 0x174A7C, 0x105CD6, 0x1FD1C7,
    ]

    /// Writes the picture as a PNG with the Python script.
    func write(to path: String) async throws {
      let rows = kind == .codes ? Self.code : Self.finder
      let words = [
        kind == .light ? "light" : "dark", "\(side)", "\(module)", "\(pitch)", path,
        rows.map { "\($0)" }.joined(separator: ","),
      ]
      let made = try await ChildCommand(["/usr/bin/python3", "-c", HostilePictureTests.script] + words)
        .finish()
      try #require(made.status == 0, made.summary)
      #expect(try Data(contentsOf: URL(filePath: path)).count < 200_000)
    }
  }

  private static let script = #"""
    import struct, sys, zlib
    kind, side, module, pitch, path = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    pattern = [int(row) for row in sys.argv[6].split(",")]
    count = len(pattern)
    def row(y):
        inside = y // module % pitch
        bits = bytearray(b"\xff" * (side // 8))
        for x in range(side if inside < count else 0):
            column = x // module % pitch
            if column < count and pattern[inside] >> (count - 1 - column) & 1:
                bits[x // 8] &= ~(0x80 >> x % 8)
        return b"\0" + bytes(byte ^ 0xff for byte in bits) if kind == "light" else b"\0" + bytes(bits)
    rows = [row(y * module) for y in range(pitch)]
    data = zlib.compress(b"".join(rows[y // module % pitch] for y in range(side)), 9)
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)))
        file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))
    """#

  /// Runs a command and prints its user and system time in seconds and its memory in KiB (`wait4`).
  private static let timer = """
    import os, sys
    child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
    status, usage = os.wait4(child, 0)[1:]
    with open(sys.argv[1], "w") as file:
        file.write(f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
    sys.exit(os.waitstatus_to_exitcode(status) & 0xff)
    """

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ words: [String]
  ) async throws -> (result: ServerCommand.Result, seconds: Double, kibibytes: Int) {
    var device = InstalledSignet(data: folder.file("device"))
    let file = folder.file("seconds")
    device.launcher = ["/usr/bin/python3", "-c", Self.timer, file]
    let result = try await device.run(words)
    let used = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ")
    return (result, try #require(Double(used[0])), try #require(Int(used[1])))
  }

  /// A thousand texts of 8 MB each, which take a few bytes in the file.
  @Test("compressed text chunks of an image use no memory")
  func texts() async throws {
    let file = folder.file("texts.png")
    let script = #"""
      import struct, sys, zlib
      def chunk(kind, body):
          return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
      packed = zlib.compress(b"A" * 7_999_000, 9)
      with open(sys.argv[1], "wb") as file:
          file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)))
          file.write(chunk(b"zTXt", b"k\0\0" + packed) * 600 + chunk(b"iTXt", b"k\0\1\0\0\0" + packed) * 398)
          file.write(chunk(b"IDAT", zlib.compress((b"\0" + b"\xff" * 64) * 64)) + chunk(b"IEND", b""))
      """#
    let made = try await ChildCommand(["/usr/bin/python3", "-c", script, file]).finish()
    try #require(made.status == 0, made.summary)
    for words in [["scan", file], ["activate", "--qr", file], ["approve", "--qr", file]] {
      let (result, _, kibibytes) = try await run(words)
      #expect(result.isRefusal(65, "no QR code"), "\(words): \(result.summary)")
      // All of the texts have 8 GB; one of each kind has 16 MB, in addition to a command's usual memory.
      #expect(kibibytes < 200_000, "\(words): \(kibibytes) KiB")
    }
  }

  @Test(
    "every command refuses an image full of finder patterns or tiny codes",
    arguments: [
      Picture(kind: .dark, module: 1), Picture(kind: .dark, module: 60), Picture(kind: .light, module: 16),
      Picture(kind: .codes, module: 1, pitch: 25),
    ]
      + (KillCount.wanted == nil
        ? []
        : [
          Picture(kind: .dark, module: 2), Picture(kind: .dark, module: 16), Picture(kind: .light, module: 1),
        ]))
  func finderPatterns(_ picture: Picture) async throws {
    let file = folder.file("full.png")
    try await picture.write(to: file)
    // All commands share one reader of pictures, so each picture goes to one of them.
    let all = [["scan", file], ["activate", "--qr", file], ["approve", "--qr", file]]
    for words in all.prefix(picture.module == 1 && picture.kind == .dark ? 3 : 1) {
      let result = try await InstalledSignet(data: folder.file("device")).run(words)
      #expect(
        result.isRefusal(65, "full of what looks like corners of QR codes"), "\(words): \(result.summary)")
    }
  }

  /// The largest pictures with as many patterns as the limits allow; they took 2 to 5 s when the limits were chosen.
  ///
  /// One of them is read. With `SIGNET_KILLS`, all are, and the processor time is compared with the manual's. Waiting for a
  /// processor does not count, and other load can double the time, but not increase it fivefold.
  @Test(
    "the most expensive accepted images are read completely; a long run compares their time with the manual",
    arguments: [
      Picture(kind: .codes, module: 2, pitch: 80, side: 5784)
    ]
      + (KillCount.wanted == nil
        ? []
        : [
          Picture(kind: .dark, module: 4, pitch: 18, side: 5784),
          Picture(kind: .light, module: 32, pitch: 29, side: 5784),
          Picture(kind: .dark, module: 16, pitch: 51, side: 5784),
          Picture(kind: .codes, module: 4, pitch: 25),
        ]))
  func letThrough(_ picture: Picture) async throws {
    let file = folder.file("many.png")
    try await picture.write(to: file)
    let (result, seconds, _) = try await run(["scan", file])
    #expect(result.status == 65 && !result.errorOutput.contains("full of what looks"), result.summary)
    if KillCount.wanted != nil { #expect(seconds > 0 && seconds <= 25, "\(seconds) s") }
    let manual = try await InstalledSignet(data: folder.file("none")).run("activate", "--help")
    #expect(manual.output.replacing(/\s+/, with: " ").contains("25 s of processor time"), manual.summary)
  }
}
