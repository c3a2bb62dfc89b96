import SignetImages

extension UAFTransaction {
  /// Indicates whether the displayed content is the signed content.
  ///
  /// A text must have no characters that reposition others. A picture must match its characteristics and decode to its last
  /// row.
  package var isShownAsItIs: Bool {
    switch contentType {
    case .text:
      content.indices.allSatisfy { index in
        switch content[index] {
        case 0x20...0x7E, 0x09, 0x0A: true
        // A carriage return is valid before a line feed; alone, it would let the rest of the line overwrite its start.
        case 0x0D: index + 1 < content.count && content[index + 1] == 0x0A
        default: false
        }
      }
    case .png: pngCharacteristics == Self.characteristics(ofPNG: content)
    }
  }

  /// Returns the transaction that an app's authenticator displays: text before pictures, in the server's order; `nil` if
  /// none is suitable.
  ///
  /// The other forms are for authenticators with other displays.
  package static func shown(of transactions: [UAFTransaction]) -> UAFTransaction? {
    transactions.first { $0.contentType == .text && $0.isShownAsItIs }
      ?? transactions.first { $0.contentType == .png && $0.isShownAsItIs }
  }

  /// The limits for a picture: the largest format of Signet's own models, on either side.
  static let pictureLimits = PNGLimits(
    byteCount: maximumByteCount, side: 1280, pixelCount: 1280 * 1280)

  /// Returns the characteristics of a picture; `nil` if it is malformed or too large.
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

  /// Indicates whether a picture with these characteristics matches a display; an empty display palette matches any.
  func matches(_ display: DisplayPNGCharacteristics) -> Bool {
    self == display
      || display.palette.isEmpty
        && DisplayPNGCharacteristics(
          width: width, height: height, bitDepth: bitDepth, colourType: colourType, compression: compression,
          filter: filter, interlace: interlace) == display
  }
}

extension MetadataStatement {
  /// Indicates whether the model's display supports a form of a transaction, according to its metadata.
  package func shows(_ transaction: UAFTransaction) -> Bool {
    guard !display.isEmpty else { return false }
    switch transaction.contentType {
    case .text: return displayContentType == UAFTransaction.ContentType.text.rawValue
    case .png:
      guard let picture = transaction.pngCharacteristics else { return false }
      return pngCharacteristics.contains(where: picture.matches)
    }
  }
}
