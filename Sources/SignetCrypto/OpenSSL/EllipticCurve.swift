import COpenSSL

/// A named curve over a 256-bit prime field with cofactor 1, with uncompressed points as its only encoding.
@safe final class EllipticCurve: @unchecked Sendable {  // immutable after init, never freed
  /// The length of a coordinate and of a private scalar, in bytes.
  static let fieldByteCount = 32
  /// The length of an uncompressed point, in bytes (SEC 1 section 2.3.3).
  static let pointByteCount = 65

  /// secp256r1 of SEC 2, P-256 of FIPS 186-5.
  static let p256 = EllipticCurve(
    "P-256", nid: NID_X9_62_prime256v1,
    algorithmIdentifier: [
      0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
      0x3D, 0x03, 0x01, 0x07,
    ])
  /// secp256k1 of SEC 2.
  static let secp256k1 = EllipticCurve(
    "secp256k1", nid: NID_secp256k1,
    algorithmIdentifier: [
      0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04, 0x00,
      0x0A,
    ])

  /// The bytes before the point in a SubjectPublicKeyInfo (RFC 5480 section 2).
  ///
  /// Their number is fixed, so one comparison rejects other curves, explicit parameters, compressed points and non-strict
  /// DER.
  let subjectPublicKeyInfoPrefix: [UInt8]

  private let name: StaticString
  private let group: OpaquePointer
  let order: OpaquePointer
  private let parameters: KeyHandle

  private init(_ name: StaticString, nid: Int32, algorithmIdentifier: [UInt8]) {
    guard let group = unsafe EC_GROUP_new_by_curve_name(nid),
      let order = unsafe EC_GROUP_get0_order(group),
      let parameters = Self.makeParameters("\(name)")
    else { preconditionFailure("this OpenSSL has no \(name); install its default provider") }
    self.name = name
    unsafe self.group = group
    unsafe self.order = order
    self.parameters = parameters
    let bitString: [UInt8] = [0x03, UInt8(Self.pointByteCount + 1), 0x00]
    let count = UInt8(algorithmIdentifier.count + bitString.count + Self.pointByteCount)
    subjectPublicKeyInfoPrefix = [0x30, count] + algorithmIdentifier + bitString
  }

  private static func makeParameters(_ name: String) -> KeyHandle? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_paramgen_init(context) == 1,
      unsafe EVP_PKEY_CTX_set_group_name(context, name) == 1,
      unsafe EVP_PKEY_paramgen(context, &key) == 1,
      let key = unsafe key
    else { return nil }
    return unsafe KeyHandle(owning: key)
  }

  /// Creates the peer's key of an agreement from an uncompressed point; OpenSSL rejects a point that is not on the curve.
  ///
  /// Setting the point of a key that already has the curve takes a third of the time of `EVP_PKEY_fromdata`. The
  /// corresponding C function is `EVP_PKEY_set1_encoded_public_key`.
  fileprivate func agreementKey(point: [UInt8]) throws(CryptoFailure) -> KeyHandle {
    guard let raw = unsafe EVP_PKEY_new() else { throw .outOfMemory }
    let key = unsafe KeyHandle(owning: raw)
    try OpenSSLCall.check(
      unsafe EVP_PKEY_copy_parameters(raw, parameters.raw), "EVP_PKEY_copy_parameters")
    guard unsafe EVP_PKEY_set1_encoded_public_key(key.raw, point, point.count) == 1 else {
      OpenSSLCall.forgetErrors()
      throw .invalidPoint
    }
    return key
  }

  /// Creates a verification key from an uncompressed point; OpenSSL rejects a point that is not on the curve.
  fileprivate func verificationKey(point: [UInt8]) throws(CryptoFailure) -> OpenSSLVerificationKey {
    try unsafe OpenSSLVerificationKey(group, point)
  }

  /// Generates a new key pair.
  ///
  /// The corresponding C function is `EVP_PKEY_generate`.
  func generate() throws(CryptoFailure) -> KeyHandle {
    let operation = try unsafe KeyOperation(
      parameters, "EVP_PKEY_keygen_init", { unsafe EVP_PKEY_keygen_init($0) })
    var key: OpaquePointer?
    let result = unsafe EVP_PKEY_generate(operation.raw, &key)
    guard result == 1, let key = unsafe key else { throw OpenSSLCall.failure("EVP_PKEY_generate") }
    return unsafe KeyHandle(owning: key)
  }

  /// Creates the key pair of a private scalar: 32 bytes, from 1 to the order minus one.
  func privateKey(scalar: Span<UInt8>) throws(CryptoFailure) -> KeyHandle {
    guard scalar.count == Self.fieldByteCount else { throw .invalidPrivateKey }
    let number = try BigNumber(bigEndian: scalar)
    guard unsafe BN_is_zero(number.raw) == 0, unsafe BN_cmp(number.raw, order) < 0 else {
      throw .invalidPrivateKey
    }
    let point = try publicPoint(of: number)
    return try unsafe point.span.withUnsafeBytes { (point) throws(CryptoFailure) in
      let builder = try KeyBuilder()
      try builder.setText("group", name)
      try builder.setNumber("priv", number)
      try unsafe builder.setOctets("pub", point)
      return try builder.build("EC", selection: COpenSSL_EVP_PKEY_KEYPAIR())
    }
  }

  /// Computes the uncompressed point of a private scalar in constant time.
  ///
  /// The corresponding C function is `EC_POINT_mul`.
  private func publicPoint(of scalar: borrowing BigNumber) throws(CryptoFailure) -> [UInt8] {
    guard let point = unsafe EC_POINT_new(group) else { throw .outOfMemory }
    defer { unsafe EC_POINT_clear_free(point) }
    try OpenSSLCall.check(unsafe EC_POINT_mul(group, point, scalar.raw, nil, nil, nil), "EC_POINT_mul")
    return try unsafe byteArray(count: Self.pointByteCount) { (buffer) throws(CryptoFailure) in
      let count = unsafe EC_POINT_point2oct(
        group, point, POINT_CONVERSION_UNCOMPRESSED,
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count, nil)
      guard count == buffer.count else { throw OpenSSLCall.failure("EC_POINT_point2oct") }
    }
  }
}

/// A public key on a curve for one of two purposes, for which OpenSSL has different key types.
final class ECPublicKey: Sendable {
  enum Purpose { case verification, agreement }

  let curve: EllipticCurve
  /// The uncompressed point, 65 bytes.
  let point: [UInt8]
  // Exactly one of the two is set. An enumeration would store its case in unused bits of the reference, and the leak checker
  // of the fuzzers would report the key as unreachable.
  private let verification: OpenSSLVerificationKey?
  private let agreement: KeyHandle?

  init(_ curve: EllipticCurve, point: [UInt8], for purpose: Purpose) throws(CryptoFailure) {
    guard point.count == EllipticCurve.pointByteCount, point[0] == 0x04 else { throw .invalidPoint }
    verification = purpose == .verification ? try curve.verificationKey(point: point) : nil
    agreement = purpose == .agreement ? try curve.agreementKey(point: point) : nil
    (self.curve, self.point) = (curve, point)
  }

  /// Decodes a SubjectPublicKeyInfo with a named curve and an uncompressed point.
  convenience init(
    _ curve: EllipticCurve, subjectPublicKeyInfo der: [UInt8], for purpose: Purpose
  ) throws(CryptoFailure) {
    let prefix = curve.subjectPublicKeyInfoPrefix
    guard der.count == prefix.count + EllipticCurve.pointByteCount, der.starts(with: prefix) else {
      throw .invalidPublicKeyEncoding
    }
    try self.init(curve, point: Array(der.dropFirst(prefix.count)), for: purpose)
  }

  var subjectPublicKeyInfo: [UInt8] { curve.subjectPublicKeyInfoPrefix + point }

  /// Lends the key to `body` for an agreement; `body` must not keep it.
  func withAgreementKey<R>(_ body: (KeyHandle) throws(CryptoFailure) -> R) throws(CryptoFailure) -> R {
    guard let agreement else { preconditionFailure("a key that checks signatures agrees on nothing") }
    return try body(agreement)
  }

  /// Verifies this key's signature of a message with SHA-256.
  func isValidSignature(_ signature: ECDSASignature, for message: [UInt8]) -> Bool {
    isValidSignature(signature, forDigest: HashFunction.sha256.digest(of: message))
  }

  /// Verifies this key's signature of the message with this digest.
  ///
  /// The corresponding C function is `ECDSA_do_verify`, which rejects numbers that are zero or too large.
  func isValidSignature(_ signature: ECDSASignature, forDigest digest: [UInt8]) -> Bool {
    guard let verification else { preconditionFailure("a key to agree with checks no signatures") }
    do throws(CryptoFailure) {
      let numbers = try SignatureNumbers(signature)
      return verification.verifies(numbers, digest)
    } catch {
      return false  // out of memory: invalid is the safe answer
    }
  }
}

/// OpenSSL's key object for verifying signatures (decision 13).
///
/// In OpenSSL any number of threads may use an unchanging key.
@safe private final class OpenSSLVerificationKey: @unchecked Sendable {
  private let raw: OpaquePointer

  /// Creates a key from a point; rejects one that is not on the curve.
  init(_ group: OpaquePointer, _ point: [UInt8]) throws(CryptoFailure) {
    guard let raw = unsafe COpenSSL_EC_KEY_new() else { throw .outOfMemory }
    unsafe self.raw = raw
    try OpenSSLCall.check(unsafe COpenSSL_EC_KEY_set_group(raw, group), "EC_KEY_set_group")
    guard unsafe COpenSSL_EC_KEY_oct2key(raw, point, point.count) == 1 else {
      OpenSSLCall.forgetErrors()
      throw .invalidPoint
    }
  }

  deinit { unsafe COpenSSL_EC_KEY_free(raw) }

  func verifies(_ signature: borrowing SignatureNumbers, _ digest: [UInt8]) -> Bool {
    let result = unsafe COpenSSL_ECDSA_do_verify(digest, Int32(digest.count), signature.raw, raw)
    if result != 1 { OpenSSLCall.forgetErrors() }
    return result == 1
  }
}

/// The numbers r and s of a signature in OpenSSL's form.
@safe private struct SignatureNumbers: ~Copyable {
  let raw: OpaquePointer

  init(_ signature: ECDSASignature) throws(CryptoFailure) {
    let bytes = signature.rawRepresentation
    guard let raw = unsafe ECDSA_SIG_new() else { throw .outOfMemory }
    let r = unsafe BN_bin2bn(bytes, 32, nil)
    let s = unsafe BN_bin2bn(Array(bytes[32...]), 32, nil)
    guard unsafe ECDSA_SIG_set0(raw, r, s) == 1 else {
      unsafe BN_free(r)
      unsafe BN_free(s)
      unsafe ECDSA_SIG_free(raw)
      throw .outOfMemory
    }
    unsafe self.raw = raw
  }

  deinit { unsafe ECDSA_SIG_free(raw) }
}
