import COpenSSL
package import SignetUAF

/// A key of an algorithm that our own authenticators lack, made and used by OpenSSL alone, independently of the verifying code.
@safe package final class UAFTestSigner: @unchecked Sendable {  // the key never changes
  private let key: OpaquePointer
  private let algorithm: UAFAlgorithm

  /// Two different RSA keys that the algorithms share, since making one takes as long as a hundred signatures.
  nonisolated(unsafe) private static let keysOfRSA = unsafe [makeKey(isRSA: true), makeKey(isRSA: true)]

  /// Makes a new key on secp256k1, or uses one of the process's two RSA keys with 2048 bits.
  ///
  /// - Parameters:
  ///   - algorithm: One on secp256k1 or of RSA.
  ///   - isOther: Whether an RSA key is the second of the two.
  package init(_ algorithm: UAFAlgorithm, isOther: Bool = false) {
    self.algorithm = algorithm
    if algorithm.scheme == .secp256k1 {
      unsafe key = Self.makeKey(isRSA: false)
    } else {
      unsafe key = Self.keysOfRSA[isOther ? 1 : 0]
      guard unsafe EVP_PKEY_up_ref(key) == 1 else { preconditionFailure("a key has too many owners") }
    }
  }

  private static func makeKey(isRSA: Bool) -> OpaquePointer {
    var made: OpaquePointer?
    let context = unsafe EVP_PKEY_CTX_new_id(isRSA ? EVP_PKEY_RSA : EVP_PKEY_EC, nil)
    let isReady = unsafe EVP_PKEY_keygen_init(context) == 1
    let isSet =
      isRSA
      ? unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
      : unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp256k1)
    guard isReady, isSet == 1, unsafe EVP_PKEY_keygen(context, &made) == 1, let made = unsafe made
    else {
      preconditionFailure("OpenSSL makes no key of \(isRSA ? "RSA" : "secp256k1")")
    }
    unsafe EVP_PKEY_CTX_free(context)
    return unsafe made
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// The public key as authenticators encode it.
  package func publicKey(_ format: UAFKeyFormat) -> [UInt8] {
    let der = unsafe Self.bytes { unsafe i2d_PUBKEY(key, $0) }
    switch format {
    case .x962RAW: return Array(der.suffix(65))
    case .rsa2048RAW:
      // RSAPublicKey: a SEQUENCE of the modulus, with a leading zero, and the exponent.
      let numbers = unsafe Self.bytes { unsafe i2d_PublicKey(key, $0) }
      guard let start = numbers.firstIndex(of: 0) else { return [] }
      return Array(numbers[(start + 1)..<(start + 257)]) + numbers[(start + 259)...]
    default: return der
    }
  }

  /// A signature as the algorithm encodes it.
  package func signature(for message: [UInt8]) -> [UInt8] {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    var options: OpaquePointer?
    var isReady = unsafe EVP_DigestSignInit(context, &options, EVP_sha256(), nil, key) == 1
    if algorithm.scheme == .rsaPSS {
      isReady =
        unsafe isReady && EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(options, 32) == 1
    }
    var count = 512
    var bytes = [UInt8](repeating: 0, count: count)
    guard isReady, unsafe EVP_DigestSign(context, &bytes, &count, message, message.count) == 1 else {
      preconditionFailure("OpenSSL does not sign with \(algorithm)")
    }
    bytes.removeLast(bytes.count - count)
    switch (algorithm.scheme, algorithm.isDER) {
    case (.secp256k1, false): return Self.pair(bytes)
    case (.secp256k1, true), (_, false): return bytes
    default: return [0x04, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + bytes
    }
  }

  /// Both numbers of an ECDSA signature in 32 bytes each.
  private static func pair(_ der: [UInt8]) -> [UInt8] {
    var (numbers, place): ([UInt8], Int) = ([], 2)
    for _ in 0..<2 {
      let count = Int(der[place + 1])
      let number = der[(place + 2)..<(place + 2 + count)].drop { $0 == 0 }
      numbers += [UInt8](repeating: 0, count: 32 - number.count) + number
      place += 2 + count
    }
    return numbers
  }

  /// The output of an OpenSSL encoder.
  private static func bytes(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32)
    -> [UInt8]
  {
    var written: UnsafeMutablePointer<UInt8>?
    let count = unsafe Int(write(&written))
    defer { unsafe CRYPTO_free(written, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: written, count: count))
  }
}
