extension UAFTransaction {
  /// Whether what is shown is what is signed: a text without characters that move others about, a picture that is as its
  /// characteristics say.
  package var isShownAsItIs: Bool {
    switch contentType {
    case .text:
      content.indices.allSatisfy { index in
        switch content[index] {
        case 0x20...0x7E, 0x09, 0x0A: true
        // The end of a line elsewhere; alone, it has the rest of the line written over what came before.
        case 0x0D: index + 1 < content.count && content[index + 1] == 0x0A
        default: false
        }
      }
    case .png: pngCharacteristics == Self.characteristics(ofPNG: content)
    }
  }

  /// The transaction that an authenticator of an app shows: text before pictures, in the server's order; nil for none of them.
  package static func shown(of transactions: [UAFTransaction]) -> UAFTransaction? {
    let fitting = transactions.filter(\.isShownAsItIs)
    return fitting.first { $0.contentType == .text } ?? fitting.first
  }

  /// The largest sides of a picture, and the most pixels: whoever decodes one needs no more memory than that.
  package static let maximumSide: UInt32 = 8_192
  package static let maximumPixelCount = 1 << 22

  /// What a picture says of itself; nil for one that viewers may show in several ways, or that is none.
  ///
  /// Nothing but size, palette and rows is taken (PNG section 5.6): what moves, turns, shines through or follows the end depends on
  /// who shows it. Rows are not decoded here.
  private static func characteristics(ofPNG content: [UInt8]) -> DisplayPNGCharacteristics? {
    var chunks = PNGChunks(content)
    guard let header = chunks?.next(), header.name == "IHDR", header.data.count == 13 else { return nil }
    let data = Array(header.data)
    let (width, height) = (PNGChunks.number(data[0..<4]), PNGChunks.number(data[4..<8]))
    guard (1...maximumSide).contains(width), (1...maximumSide).contains(height),
      Int(width) * Int(height) <= maximumPixelCount, [0, 2, 3].contains(data[9])
    else { return nil }
    var palette: [DisplayPNGCharacteristics.Colour] = []
    var (hasRows, isAfterRows) = (false, false)
    while let chunk = chunks?.next() {
      switch chunk.name {
      case "PLTE":
        let colours = Array(chunk.data)
        guard (3...768).contains(colours.count), colours.count % 3 == 0, palette.isEmpty, !hasRows else {
          return nil
        }
        palette = stride(from: 0, to: colours.count, by: 3).map {
          .init(red: UInt16(colours[$0]), green: UInt16(colours[$0 + 1]), blue: UInt16(colours[$0 + 2]))
        }
      case "IDAT":
        guard !isAfterRows else { return nil }
        hasRows = hasRows || !chunk.data.isEmpty
      case "IEND":
        guard hasRows, chunk.data.isEmpty, chunks?.isAtEnd ?? false, data[9] != 3 || !palette.isEmpty else {
          return nil
        }
        return DisplayPNGCharacteristics(
          width: width, height: height, bitDepth: data[8], colourType: data[9], compression: data[10],
          filter: data[11], interlace: data[12], palette: data[9] == 3 ? palette : [])
      // What says how colours are meant, when it was made, or how large a pixel is.
      case "sRGB", "gAMA", "cHRM", "sBIT", "pHYs", "tIME", "tEXt": isAfterRows = hasRows
      default: return nil
      }
    }
    return nil
  }
}

/// Steps through the chunks of a picture (PNG section 5.3), without looking into them.
private struct PNGChunks {
  private var rest: ArraySlice<UInt8>

  init?(_ content: [UInt8]) {
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    guard content.starts(with: signature) else { return nil }
    rest = content.dropFirst(signature.count)
  }

  /// Whether nothing follows the last chunk.
  var isAtEnd: Bool { rest.isEmpty }

  /// The next chunk; nil where there is none, or its check is wrong.
  mutating func next() -> (name: String, data: ArraySlice<UInt8>)? {
    guard rest.count >= 12 else { return nil }
    let count = Int(Self.number(rest.prefix(4)))
    guard count <= rest.count - 12 else { return nil }
    let checked = rest.dropFirst(4).prefix(4 + count)
    guard Self.check(checked) == Self.number(rest.dropFirst(8 + count).prefix(4)) else { return nil }
    rest = rest.dropFirst(12 + count)
    return (String(decoding: checked.prefix(4), as: UTF8.self), checked.dropFirst(4))
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  /// The CRC of a chunk (PNG annex D).
  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var value = UInt32.max
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }
    return ~value
  }
}
