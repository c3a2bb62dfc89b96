/// A PNG of two rows of grey pixels, and what can be done to one.
struct UAFPicture: Sendable {
  /// A chunk: its name and its content.
  typealias Chunk = (name: String, data: [UInt8])

  var width: UInt32 = 4
  var colourType: UInt8 = 0
  /// Between the header and the rows.
  var before: [Chunk] = []
  /// The rows, in zlib's format.
  var rows: [Chunk]
  /// Between the rows and the end.
  var after: [Chunk] = []
  var end: [Chunk] = [("IEND", [])]
  var trailing: [UInt8] = []
  /// Whether the last check of all is wrong.
  var hasWrongCheck = false

  init(width: UInt32 = 4) {
    self.width = width
    rows = [("IDAT", Self.zlib([UInt8](repeating: 0, count: 2 * (Int(min(width, 64)) + 1))))]
  }

  private init(_ change: (inout UAFPicture) -> Void) {
    self.init()
    change(&self)
  }

  /// What is shown by some in another way than by others, or needs much memory, or cannot be shown.
  static let doubtful: [(name: String, picture: UAFPicture)] = [
    ("animated", UAFPicture { $0.before = [("acTL", [0, 0, 0, 2, 0, 0, 0, 0])] }),
    ("frame", UAFPicture { $0.after = [("fdAT", [0, 0, 0, 1, 1])] }),
    ("transparent colour", UAFPicture { $0.before = [("tRNS", [0, 0])] }),
    ("background", UAFPicture { $0.before = [("bKGD", [0, 0])] }),
    ("transparent", UAFPicture { $0.colourType = 4 }),
    ("turned", UAFPicture { $0.before = [("eXIf", [0x4D, 0x4D, 0, 42])] }),
    ("of unknown kind", UAFPicture { $0.before = [("ABCD", [])] }),
    ("two headers", UAFPicture { $0.before = [("IHDR", [0, 0, 0, 4, 0, 0, 0, 2, 8, 0, 0, 0, 0])] }),
    ("no rows", UAFPicture { $0.rows = [] }),
    ("empty rows", UAFPicture { $0.rows = [("IDAT", [])] }),
    ("rows apart", UAFPicture { $0.after = [("tIME", [0, 0, 0, 0, 0, 0, 0]), ("IDAT", [1])] }),
    ("palette after rows", UAFPicture { $0.after = [("PLTE", [1, 2, 3])] }),
    ("no end", UAFPicture { $0.end = [] }),
    ("more after the end", UAFPicture { $0.trailing = [0] }),
    ("a second picture", UAFPicture { $0.trailing = UAFPicture().bytes }),
    ("damaged", UAFPicture { $0.hasWrongCheck = true }),
    ("huge", UAFPicture { $0.width = 1 << 30 }),
    ("of no width", UAFPicture { $0.width = 0 }),
  ]

  var bytes: [UInt8] {
    let header = Self.big(width) + [0, 0, 0, 2, 8, colourType, 0, 0, 0]
    let chunks = [("IHDR", header)] + before + rows + after + end
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for (name, data) in chunks {
      let checked = Array(name.utf8) + data
      bytes += Self.big(UInt32(data.count)) + checked + Self.big(Self.check(checked))
    }
    if hasWrongCheck { bytes[bytes.count - 1] ^= 1 }
    return bytes + trailing
  }

  /// Stored, not compressed (RFC 1950, RFC 1951 section 3.2.4).
  private static func zlib(_ data: [UInt8]) -> [UInt8] {
    let count = UInt16(data.count)
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in data {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    let little = { (number: UInt16) in [UInt8(number & 0xFF), UInt8(number >> 8)] }
    return [0x78, 0x01, 0x01] + little(count) + little(~count) + data + big(b << 16 | a)
  }

  private static func big(_ number: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }

  private static func check(_ bytes: [UInt8]) -> UInt32 {
    var value = UInt32.max
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }
    return ~value
  }
}
