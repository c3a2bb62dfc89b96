/// The attestation of a new key.
package enum Attestation: Hashable, Sendable {
  /// Signed by an attestation key with certificates: the leaf first, each followed by its issuer, in DER.
  case basicFull(signature: [UInt8], certificates: [[UInt8]])
  /// Signed by the new key itself.
  case basicSurrogate(signature: [UInt8])
  /// Direct anonymous attestation.
  case ecdaa(signature: [UInt8])

  package var type: AttestationType {
    switch self {
    case .basicFull: .basicFull
    case .basicSurrogate: .basicSurrogate
    case .ecdaa: .ecdaa
    }
  }

  /// The signature, over the whole element of the key registration data.
  package var signature: [UInt8] {
    switch self {
    case .basicFull(let signature, _), .basicSurrogate(let signature), .ecdaa(let signature): signature
    }
  }
}

/// The way in which an authenticator attests its model; the numbers are those of the TLV tags.
package struct AttestationType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number in the registry.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// Signed by an attestation key with a certificate.
  package static let basicFull = AttestationType(0x3E07)
  /// Signed by the new key itself, which only proves possession.
  package static let basicSurrogate = AttestationType(0x3E08)
  /// Direct anonymous attestation, which is unsupported.
  package static let ecdaa = AttestationType(0x3E09)

  /// The short name; `nil` for a number that is not in the registry.
  package var name: String? {
    switch self {
    case .basicFull: "basic_full"
    case .basicSurrogate: "basic_surrogate"
    case .ecdaa: "ecdaa"
    default: nil
    }
  }

  package var description: String { name.map { "\($0) (\(rawValue.registryHex))" } ?? rawValue.registryHex }
}
