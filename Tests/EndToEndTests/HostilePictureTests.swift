import Foundation
import SignetTestKit
import Testing

/// Pictures that are made to take long.
@Suite(.timeLimit(.minutes(10))) struct HostilePictureTests {
  /// 4000 by 4000 pixels, full of finder patterns whose modules have some pixels, in about 24 KB.
  private static let script = #"""
    import struct, sys, zlib
    side, module, path = 4000, int(sys.argv[1]), sys.argv[2]
    pattern = (0x7F, 0x41, 0x5D, 0x5D, 0x5D, 0x41, 0x7F)
    def row(y):
        inside = y // module % 8
        bits = bytearray(b"\xff" * (side // 8))
        for x in range(side if inside < 7 else 0):
            column = x // module % 8
            if column < 7 and pattern[inside] >> (6 - column) & 1:
                bits[x // 8] &= ~(0x80 >> x % 8)
        return b"\0" + bytes(bits)
    rows = [row(y * module) for y in range(8)]
    data = zlib.compress(b"".join(rows[y // module % 8] for y in range(side)), 9)
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)))
        file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))
    """#

  @Test(
    "a picture full of finder patterns is refused by every command that reads pictures",
    .enabled(if: FakeServer.canRun, "needs python3"), arguments: [1, 2, 16, 60])
  func finderPatterns(_ module: Int) async throws {
    let folder = try TemporaryFolder()
    let device = DeviceCommand(data: folder.file("device"))
    let picture = folder.file("full.png")
    let made = try await ChildCommand(["/usr/bin/python3", "-c", Self.script, String(module), picture])
      .finish()
    try #require(made.status == 0, made.summary)
    #expect(try Data(contentsOf: URL(filePath: picture)).count < 100_000)
    for words in [["activate", "--qr", picture], ["scan", picture], ["approve", "--qr", picture]] {
      let result = try await device.run(words)
      #expect(
        result.isRefusal(65, "full of what looks like corners of QR codes"), "\(words): \(result.summary)")
    }
  }
}
