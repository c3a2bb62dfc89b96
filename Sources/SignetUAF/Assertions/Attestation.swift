/// Who vouches for a new key, and how.
package enum Attestation: Hashable, Sendable {
  /// A key with a certificate: the leaf first, each next issuing the one before, in DER.
  case basicFull(signature: [UInt8], certificates: [[UInt8]])
  /// The new key itself.
  case basicSurrogate(signature: [UInt8])
  /// Direct anonymous attestation.
  case ecdaa(signature: [UInt8])

  /// The kind.
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
