/// An encoding of public keys (FIDO Registry of Predefined Values section 3.6.2).
package struct UAFKeyFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number in the registry.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// 0x04, X and Y: 65 bytes.
  package static let x962RAW = UAFKeyFormat(0x0100)
  /// A SubjectPublicKeyInfo with a named curve.
  package static let x962DER = UAFKeyFormat(0x0101)
  /// The modulus in 256 bytes, followed by the exponent.
  package static let rsa2048RAW = UAFKeyFormat(0x0102)
  /// A SubjectPublicKeyInfo, or an RSAPublicKey.
  package static let rsa2048DER = UAFKeyFormat(0x0103)

  /// The name in the registry; `nil` for a number that is not in it.
  package var name: String? {
    switch self {
    case .x962RAW: "ALG_KEY_ECC_X962_RAW"
    case .x962DER: "ALG_KEY_ECC_X962_DER"
    case .rsa2048RAW: "ALG_KEY_RSA_2048_RAW"
    case .rsa2048DER: "ALG_KEY_RSA_2048_DER"
    default: nil
    }
  }

  package var description: String { name.map { "\($0) (\(rawValue.registryHex))" } ?? rawValue.registryHex }
}

extension UAFKeyFormat {
  /// Parses a format as people write it: `0x0100`, `256`, or the registry's name in any case.
  package init?(named text: String) {
    let registered: [UAFKeyFormat] = [.x962RAW, .x962DER, .rsa2048RAW, .rsa2048DER]
    if let format = registered.first(where: { $0.name?.lowercased() == text.lowercased() }) {
      self = format
      return
    }
    let isHex = text.lowercased().hasPrefix("0x")
    guard let number = isHex ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text) else { return nil }
    self.init(rawValue: number)
  }
}
