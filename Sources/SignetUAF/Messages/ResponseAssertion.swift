import SignetCrypto
package import SignetJSON

/// An assertion of a response, not parsed yet.
package struct ResponseAssertion: Hashable, Sendable {
  /// The only assertion scheme of the protocol.
  package static let tlvScheme = "UAFV1TLV"

  package let scheme: String
  /// The assertion, 1 to 4096 bytes.
  package let bytes: [UInt8]
  /// The pictures that the authenticator can display; only for a registration.
  package let pngCharacteristics: [DisplayPNGCharacteristics]
  package let extensions: [UAFExtension]

  package init(
    scheme: String = tlvScheme, bytes: [UInt8], pngCharacteristics: [DisplayPNGCharacteristics] = [],
    extensions: [UAFExtension] = []
  ) {
    self.scheme = scheme
    self.bytes = bytes
    self.pngCharacteristics = pngCharacteristics
    self.extensions = extensions
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    scheme = try reader.string("assertionScheme", 1...64)
    bytes = try reader.bytes("assertion", 1...4096)
    pngCharacteristics =
      try reader.withoutNull(["tcDisplayPNGCharacteristics"]).optionalList(
        "tcDisplayPNGCharacteristics", minimum: 0, maximum: 64
      ) {
        value, path throws(MessageFailure) in
        try DisplayPNGCharacteristics(DictionaryReader(value, path))
      } ?? []
    extensions = try reader.extensions()
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "assertionScheme": .string(scheme), "assertion": .string(Base64URL.encode(bytes)),
    ]
    if !pngCharacteristics.isEmpty {
      object["tcDisplayPNGCharacteristics"] = .dictionaries(pngCharacteristics.map(\.json))
    }
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }
}

extension DictionaryReader {
  /// Returns the assertions of a response, 1 to 16.
  func assertions() throws(MessageFailure) -> [ResponseAssertion] {
    try list("assertions", maximum: 16) { value, path throws(MessageFailure) in
      try ResponseAssertion(DictionaryReader(value, path))
    }
  }
}
