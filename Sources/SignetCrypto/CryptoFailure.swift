/// Why a cryptographic operation was refused or failed.
///
/// A failed signature check is not a failure: it answers `false`.
@nonexhaustive public enum CryptoFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A number that a caller chooses and that has bounds.
  public enum Parameter: String, Sendable, Hashable {
    /// The rounds of PBKDF2.
    case iterations
    /// The passes of Argon2id over its memory.
    case passes
    /// The memory of Argon2id, in KiB.
    case memoryKiB
    /// The lanes of Argon2id.
    case lanes
    /// The bytes of the salt.
    case saltByteCount
    /// The bytes of the password.
    case passwordByteCount
    /// The bytes to derive.
    case outputByteCount
    /// The milliseconds that a derivation should take.
    case milliseconds
    /// The days that a certificate is valid.
    case validDays
    /// The cost of scrypt, a power of two.
    case scryptCost
    /// The block size of scrypt.
    case scryptBlockSize
    /// The lanes of scrypt.
    case scryptParallelization
    /// The blocks of scrypt in all: cost, block size and lanes multiplied.
    case scryptWork
  }

  /// The key has this many bytes, which the algorithm does not take.
  case keyLength(Int)
  /// The nonce or initialisation vector has this many bytes, which the algorithm does not take.
  case nonceLength(Int)
  /// The tag has this many bytes instead of 16.
  case tagLength(Int)
  /// The input has this many bytes, which is too many, too few or no whole number of blocks.
  case inputLength(Int)
  /// The tag does not fit the ciphertext, key, nonce and additional data. Nothing more is said.
  case authenticationFailed
  /// The ciphertext does not decrypt to padded text. Tell no remote caller apart from other failures.
  case decryptionFailed
  /// A number is outside its bounds.
  case parameterOutOfRange(Parameter, Int, allowed: ClosedRange<Int>)
  /// The bytes are no uncompressed X9.62 point of the curve.
  case invalidPoint
  /// The bytes are no private scalar of the curve: 32 bytes, from 1 to the order less one.
  case invalidPrivateKey
  /// The bytes are no public key of the wanted kind in strict DER.
  case invalidPublicKeyEncoding
  /// The bytes are no ECDSA signature of the wanted form.
  case invalidSignatureEncoding
  /// The RSA modulus has this many bits, or is even.
  case rsaModulus(bits: Int)
  /// The RSA exponent is even, below 3 or above 32 bits.
  case rsaExponent
  /// The text is no certificate in PEM.
  case invalidCertificate
  /// The name is neither a DNS name nor an IP address that may stand in a certificate.
  case invalidSubjectName
  /// There is not enough memory for the wanted cost.
  case outOfMemory
  /// A C function failed in a way that has no better name.
  case library(function: String, code: UInt)

  /// What happened and what to do; never key bytes or text.
  public var description: String {
    switch self {
    case .keyLength(let count): "the key has \(count) bytes; use a length that the algorithm takes"
    case .nonceLength(let count): "the nonce has \(count) bytes; use 12 for GCM and 16 for CBC"
    case .tagLength(let count): "the tag has \(count) bytes; 16 are needed, a shorter tag is refused"
    case .inputLength(let count): "the input has \(count) bytes; use a length that the algorithm takes"
    case .authenticationFailed: "authentication failed; treat the message as if it had not arrived"
    case .decryptionFailed: "decryption failed; check the authentication code before decrypting"
    case .parameterOutOfRange(let parameter, let value, let allowed):
      "\(parameter.rawValue) is \(value); use \(allowed.lowerBound) to \(allowed.upperBound)"
    case .invalidPoint: "not a point of the curve; send it uncompressed (0x04, X, Y)"
    case .invalidPrivateKey: "not a private key of the curve; use 32 bytes, 1 to the order less one"
    case .invalidPublicKeyEncoding: "not a public key of this kind in strict DER; export it again"
    case .invalidSignatureEncoding: "not an ECDSA signature in this form; use strict DER or 64 raw bytes"
    case .rsaModulus(let bits): "the RSA modulus has \(bits) bits; use an odd one of 2048 to 8192 bits"
    case .rsaExponent: "the RSA exponent is unusual; use 65537"
    case .invalidCertificate: "not a certificate in PEM; check the file"
    case .invalidSubjectName: "not a DNS name or an IP address; check the names for the certificate"
    case .outOfMemory: "not enough memory; lower the cost or free memory"
    case .library(let function, let code): "\(function) failed with code \(code); report this as a defect"
    }
  }
}

extension CryptoFailure {
  static func require(
    _ value: Int, in allowed: ClosedRange<Int>, _ parameter: Parameter
  ) throws(CryptoFailure) {
    guard allowed.contains(value) else {
      throw .parameterOutOfRange(parameter, value, allowed: allowed)
    }
  }
}
