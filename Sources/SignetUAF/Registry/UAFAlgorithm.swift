/// How an authenticator signs (FIDO Registry of Predefined Values section 3.6.1).
package struct UAFAlgorithm: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The registry's number.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  package static let p256RAW = UAFAlgorithm(0x0001)
  package static let p256DER = UAFAlgorithm(0x0002)
  package static let rsaPSSRAW = UAFAlgorithm(0x0003)
  package static let rsaPSSDER = UAFAlgorithm(0x0004)
  package static let secp256k1RAW = UAFAlgorithm(0x0005)
  package static let secp256k1DER = UAFAlgorithm(0x0006)
  package static let sm2RAW = UAFAlgorithm(0x0007)
  package static let rsaPKCS1RAW = UAFAlgorithm(0x0008)
  package static let rsaPKCS1DER = UAFAlgorithm(0x0009)

  /// What is done to the digest, all of them SHA-256.
  package enum Scheme: Hashable, Sendable {
    /// ECDSA on P-256.
    case p256
    /// ECDSA on secp256k1.
    case secp256k1
    /// RSASSA-PSS with 32 bytes of salt.
    case rsaPSS
    /// RSASSA-PKCS1-v1_5.
    case rsaPKCS1
  }

  /// The scheme, or nil where it is not supported here.
  package var scheme: Scheme? {
    switch self {
    case .p256RAW, .p256DER: .p256
    case .secp256k1RAW, .secp256k1DER: .secp256k1
    case .rsaPSSRAW, .rsaPSSDER: .rsaPSS
    case .rsaPKCS1RAW, .rsaPKCS1DER: .rsaPKCS1
    default: nil
    }
  }

  /// Whether the signature is wrapped in DER.
  package var isDER: Bool {
    switch self {
    case .p256DER, .secp256k1DER, .rsaPSSDER, .rsaPKCS1DER: true
    default: false
    }
  }

  /// The registry's name, or nil for a number that it does not have.
  package var name: String? {
    switch self {
    case .p256RAW: "ALG_SIGN_SECP256R1_ECDSA_SHA256_RAW"
    case .p256DER: "ALG_SIGN_SECP256R1_ECDSA_SHA256_DER"
    case .rsaPSSRAW: "ALG_SIGN_RSASSA_PSS_SHA256_RAW"
    case .rsaPSSDER: "ALG_SIGN_RSASSA_PSS_SHA256_DER"
    case .secp256k1RAW: "ALG_SIGN_SECP256K1_ECDSA_SHA256_RAW"
    case .secp256k1DER: "ALG_SIGN_SECP256K1_ECDSA_SHA256_DER"
    case .sm2RAW: "ALG_SIGN_SM2_SM3_RAW"
    case .rsaPKCS1RAW: "ALG_SIGN_RSA_EMSA_PKCS1_SHA256_RAW"
    case .rsaPKCS1DER: "ALG_SIGN_RSA_EMSA_PKCS1_SHA256_DER"
    default: nil
    }
  }

  package var description: String { name.map { "\($0) (\(rawValue.registryHex))" } ?? rawValue.registryHex }
}

/// How a public key is written (FIDO Registry of Predefined Values section 3.6.2).
package struct UAFKeyFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The registry's number.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// 0x04, X and Y: 65 bytes.
  package static let x962RAW = UAFKeyFormat(0x0100)
  /// A SubjectPublicKeyInfo with a named curve.
  package static let x962DER = UAFKeyFormat(0x0101)
  /// The modulus in 256 bytes, and the exponent.
  package static let rsa2048RAW = UAFKeyFormat(0x0102)
  /// A SubjectPublicKeyInfo, or an RSAPublicKey.
  package static let rsa2048DER = UAFKeyFormat(0x0103)

  /// The registry's name, or nil for a number that it does not have.
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

/// How an authenticator proves its model; the numbers are those of the tags.
package struct AttestationType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The registry's number.
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// Signed by a key that a certificate vouches for.
  package static let basicFull = AttestationType(0x3E07)
  /// Signed by the new key itself, which proves possession only.
  package static let basicSurrogate = AttestationType(0x3E08)
  /// Direct anonymous attestation, which is not supported here.
  package static let ecdaa = AttestationType(0x3E09)

  /// A short name, or nil for a number that the registry does not have.
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

extension UAFKeyFormat {
  /// Reads a format as people write it: `0x0100`, `256`, or the registry's name in any case.
  package init?(named text: String) {
    let known: [UAFKeyFormat] = [.x962RAW, .x962DER, .rsa2048RAW, .rsa2048DER]
    if let found = known.first(where: { $0.name?.lowercased() == text.lowercased() }) {
      self = found
      return
    }
    let isHex = text.lowercased().hasPrefix("0x")
    guard let number = isHex ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text) else { return nil }
    self.init(rawValue: number)
  }
}
