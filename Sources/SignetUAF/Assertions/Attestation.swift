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
