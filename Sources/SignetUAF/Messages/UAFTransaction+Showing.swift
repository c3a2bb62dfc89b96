import SignetPNG

extension UAFTransaction {
  /// Whether what is shown is what is signed: a text without characters that move others about, a picture that is as its
  /// characteristics say and that was decoded to its last row.
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
  ///
  /// Other forms are those that an authenticator with another display takes.
  package static func shown(of transactions: [UAFTransaction]) -> UAFTransaction? {
    transactions.first { $0.contentType == .text && $0.isShownAsItIs }
      ?? transactions.first { $0.contentType == .png && $0.isShownAsItIs }
  }

  /// How large a picture may be: as the largest form of our own models, on either side.
  static let pictureLimits = PNGLimits(
    byteCount: maximumByteCount, side: 1280, pixelCount: 1280 * 1280)

  /// What a picture is like; nil for what is none, or is too large.
  private static func characteristics(ofPNG content: [UInt8]) -> DisplayPNGCharacteristics? {
    do throws(PNGFailure) {
      return DisplayPNGCharacteristics(try PNGPicture(decoding: content, limits: pictureLimits).frame)
    } catch { return nil }
  }
}

extension DisplayPNGCharacteristics {
  fileprivate init(_ frame: PNGFrame) {
    let colours = frame.palette
    self.init(
      width: frame.width, height: frame.height, bitDepth: frame.bitDepth, colourType: frame.colourType,
      compression: frame.compression, filter: frame.filter, interlace: frame.interlace,
      palette: stride(from: 0, to: colours.count - colours.count % 3, by: 3).map {
        Colour(red: UInt16(colours[$0]), green: UInt16(colours[$0 + 1]), blue: UInt16(colours[$0 + 2]))
      })
  }

  /// Whether a picture like this will do where a display says what it takes; the palette is asked only where it is named.
  func fits(_ display: DisplayPNGCharacteristics) -> Bool {
    self == display
      || display.palette.isEmpty
        && DisplayPNGCharacteristics(
          width: width, height: height, bitDepth: bitDepth, colourType: colourType, compression: compression,
          filter: filter, interlace: interlace) == display
  }
}

extension MetadataStatement {
  /// Whether an authenticator of the model can show a form of a transaction, as its vendor says.
  package func shows(_ transaction: UAFTransaction) -> Bool {
    guard !display.isEmpty else { return false }
    switch transaction.contentType {
    case .text: return displayContentType == UAFTransaction.ContentType.text.rawValue
    case .png:
      guard let picture = transaction.pngCharacteristics else { return false }
      return pngCharacteristics.contains(where: picture.fits)
    }
  }
}
