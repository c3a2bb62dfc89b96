import SignetCrypto
package import SignetJSON

/// A transaction that the user is asked to confirm.
package struct UAFTransaction: Hashable, Sendable {
  package enum ContentType: String, Hashable, Sendable {
    /// At most 200 ASCII characters.
    case text = "text/plain"
    /// A picture that fits the authenticator's display.
    case png = "image/png"
  }

  package let contentType: ContentType
  /// The displayed and hashed content.
  package let content: [UInt8]
  package let pngCharacteristics: DisplayPNGCharacteristics?

  /// Creates a transaction; `nil` if its content does not match its type.
  package init?(
    contentType: ContentType, content: [UInt8], pngCharacteristics: DisplayPNGCharacteristics? = nil
  ) {
    guard Self.isContent(content, contentType), contentType == .text || pngCharacteristics != nil else {
      return nil
    }
    self.contentType = contentType
    self.content = content
    self.pngCharacteristics = pngCharacteristics
  }

  /// Parses a transaction outside a message.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    guard let type = ContentType(rawValue: try reader.string("contentType", 1...64)) else {
      throw reader.failure("contentType", .value)
    }
    contentType = type
    content = try reader.bytes("content", 1...Self.maximumByteCount)
    guard Self.isContent(content, type) else { throw reader.failure("content", .form) }
    pngCharacteristics = try reader.optionalDictionary("tcDisplayPNGCharacteristics")
      .map { reader throws(MessageFailure) in try DisplayPNGCharacteristics(reader) }
    guard type == .text || pngCharacteristics != nil else {
      throw reader.failure("tcDisplayPNGCharacteristics", .missing)
    }
  }

  /// The SHA-256 digest that the authenticator signs.
  package var hash: [UInt8] { HashFunction.sha256.digest(of: content) }

  package var json: JSONObject {
    var object: JSONObject = [
      "contentType": .string(contentType.rawValue), "content": .string(Base64URL.encode(content)),
    ]
    object.setOptional("tcDisplayPNGCharacteristics", pngCharacteristics.map { .object($0.json) })
    return object
  }

  /// The largest picture file, in bytes.
  static let maximumByteCount = 131_072

  private static func isContent(_ content: [UInt8], _ type: ContentType) -> Bool {
    switch type {
    case .text: (1...200).contains(content.count) && content.allSatisfy { $0 < 0x80 }
    case .png: content.count <= maximumByteCount && content.starts(with: [0x89, 0x50, 0x4E, 0x47])
    }
  }
}
