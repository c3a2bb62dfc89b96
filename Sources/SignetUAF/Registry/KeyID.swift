import SignetCrypto

/// Names a key among those of one authenticator model: 32 to 2048 bytes that the authenticator chose.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
  /// The lengths that the protocol allows.
  package static let byteCounts = 32...2048

  /// The bytes.
  package let bytes: [UInt8]

  /// Takes the bytes; nil where they are too few or too many.
  package init?(_ bytes: [UInt8]) {
    guard Self.byteCounts.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// Reads the text that messages have, base64url with or without padding; nil for anything else.
  package init?(text: String) {
    guard let bytes = Base64URL.decodePadded(text) else { return nil }
    self.init(bytes)
  }

  /// Makes a new one: 32 random bytes.
  package static func random() -> KeyID { KeyID(uncheckedBytes: SecureRandom.bytes(32)) }

  private init(uncheckedBytes: [UInt8]) { bytes = uncheckedBytes }

  /// The bytes as messages have them, in base64url without padding.
  package var text: String { Base64URL.encode(bytes) }

  package var description: String { text }
}

/// Names a key everywhere: the model, and the key among the model's.
package struct KeyReference: Hashable, Sendable {
  /// The authenticator's model.
  package let aaid: AAID
  /// The key.
  package let keyID: KeyID

  package init(aaid: AAID, keyID: KeyID) { (self.aaid, self.keyID) = (aaid, keyID) }
}
