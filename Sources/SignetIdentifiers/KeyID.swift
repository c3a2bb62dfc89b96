import SignetCrypto

/// The id of a key within an authenticator model: 32 to 2048 bytes that the authenticator chose.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
  /// The allowed lengths, in bytes.
  package static let byteCounts = 32...2048

  package let bytes: [UInt8]

  /// Creates an id; `nil` for a length that is not allowed.
  package init?(_ bytes: [UInt8]) {
    guard Self.byteCounts.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// Parses base64url with or without padding; `nil` for any other text.
  package init?(text: String) {
    guard let bytes = Base64URL.decodePadded(text) else { return nil }
    self.init(bytes)
  }

  /// Creates a new id of 32 random bytes.
  package static func random() -> KeyID { KeyID(uncheckedBytes: SecureRandom.bytes(32)) }

  private init(uncheckedBytes: [UInt8]) { bytes = uncheckedBytes }

  /// The id in base64url without padding, as in messages.
  package var text: String { Base64URL.encode(bytes) }

  package var description: String { text }
}

/// The globally unique reference of a key: its model and its id.
package struct KeyReference: Hashable, Sendable {
  package let aaid: AAID
  package let keyID: KeyID

  package init(aaid: AAID, keyID: KeyID) { (self.aaid, self.keyID) = (aaid, keyID) }
}
