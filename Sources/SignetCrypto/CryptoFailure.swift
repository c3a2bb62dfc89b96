/// The reasons why a cryptographic operation is rejected or fails.
///
/// An invalid signature is no failure: verification returns `false`.
@nonexhaustive public enum CryptoFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A parameter with a limited range.
  public enum Parameter: String, Sendable, Hashable {
    /// The number of PBKDF2 iterations.
    case iterations
    /// The number of passes of Argon2id over its memory.
    case passes
    /// The memory of Argon2id, in KiB.
    case memoryKiB
    /// The number of Argon2id lanes.
    case lanes
    /// The length of the salt, in bytes.
    case saltByteCount
    /// The length of the password, in bytes.
    case passwordByteCount
    /// The length of the output, in bytes.
    case outputByteCount
    /// The target duration of a derivation, in milliseconds.
    case milliseconds
    /// The validity of a certificate, in days.
    case validDays
    /// The cost parameter of scrypt, a power of two.
    case scryptCost
    /// The block size parameter of scrypt.
    case scryptBlockSize
    /// The parallelization parameter of scrypt.
    case scryptParallelization
    /// The total work of scrypt: the product of its cost, block size and parallelization.
    case scryptWork
  }

  /// The algorithm does not support a key of this length, in bytes.
  case keyLength(Int)
  /// The algorithm does not support a nonce or initialization vector of this length, in bytes.
  case nonceLength(Int)
  /// The tag does not have 16 bytes; the value is its length.
  case tagLength(Int)
  /// The input of this length, in bytes, is too long, too short or not a whole number of blocks.
  case inputLength(Int)
  /// The tag does not match the ciphertext, key, nonce and additional data; no details are given.
  case authenticationFailed
  /// The padding of the decrypted text is wrong.
  ///
  /// To a remote caller, this error must be indistinguishable from others: it would be a padding oracle.
  case decryptionFailed
  /// A parameter is outside its range.
  case parameterOutOfRange(Parameter, Int, allowed: ClosedRange<Int>)
  /// The bytes are not an uncompressed X9.62 point of the curve.
  case invalidPoint
  /// The bytes are not a private scalar of the curve: 32 bytes, from 1 to the order minus one.
  case invalidPrivateKey
  /// The bytes are not a public key of the expected kind in strict DER.
  case invalidPublicKeyEncoding
  /// The bytes are not an ECDSA signature in the expected encoding.
  case invalidSignatureEncoding
  /// The RSA modulus has an unsupported length, or is even; the value is its length in bits.
  case rsaModulus(bits: Int)
  /// The RSA exponent is even, below 3, or longer than 32 bits.
  case rsaExponent
  /// The text is not a certificate in PEM.
  case invalidCertificate
  /// The name is neither a DNS name nor an IP address that a certificate can contain.
  case invalidSubjectName
  /// There is not enough memory for the requested cost.
  case outOfMemory
  /// A C function failed for a reason without its own case.
  case library(function: String, code: UInt)

  /// The reason and what to do about it; it never contains key bytes or text.
  public var description: String {
    switch self {
    case .keyLength(let count): "the key has \(count) bytes; use a length that the algorithm accepts"
    case .nonceLength(let count): "the nonce has \(count) bytes; use 12 for GCM and 16 for CBC"
    case .tagLength(let count): "the tag has \(count) bytes; 16 are needed, a shorter tag is refused"
    case .inputLength(let count): "the input has \(count) bytes; use a length that the algorithm accepts"
    case .authenticationFailed: "authentication failed; discard the message"
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
