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

  /// What the first chunk, and the palette, of a picture say; nil for what is no picture.
  private static func characteristics(ofPNG content: [UInt8]) -> DisplayPNGCharacteristics? {
    var chunks = PNGChunks(content)
    guard let header = chunks?.next(), header.name == Array("IHDR".utf8), header.data.count == 13 else {
      return nil
    }
    let data = Array(header.data)
    var palette: [DisplayPNGCharacteristics.Colour] = []
    while let chunk = chunks?.next() {
      guard chunk.name == Array("PLTE".utf8) else { continue }
      let colours = Array(chunk.data)
      guard colours.count % 3 == 0, colours.count <= 768, palette.isEmpty else { return nil }
      palette = stride(from: 0, to: colours.count, by: 3).map {
        .init(red: UInt16(colours[$0]), green: UInt16(colours[$0 + 1]), blue: UInt16(colours[$0 + 2]))
      }
    }
    return DisplayPNGCharacteristics(
      width: PNGChunks.number(data[0..<4]), height: PNGChunks.number(data[4..<8]), bitDepth: data[8],
      colourType: data[9], compression: data[10], filter: data[11], interlace: data[12],
      palette: data[9] == 3 ? palette : [])
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

  mutating func next() -> (name: [UInt8], data: ArraySlice<UInt8>)? {
    guard rest.count >= 12 else { return nil }
    let count = Int(Self.number(rest.prefix(4)))
    guard count <= rest.count - 12 else { return nil }
    let name = Array(rest.dropFirst(4).prefix(4))
    let data = rest.dropFirst(8).prefix(count)
    rest = rest.dropFirst(12 + count)
    return (name, data)
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}
