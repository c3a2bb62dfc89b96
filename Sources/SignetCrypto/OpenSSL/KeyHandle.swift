import COpenSSL

/// An OpenSSL key, public or private, with shared ownership; freeing it wipes the private parts.
///
/// In OpenSSL any number of threads may use an unchanging key, and this module never changes one.
@safe final class KeyHandle: @unchecked Sendable {
  let raw: OpaquePointer

  /// Takes ownership of `raw`.
  init(owning raw: OpaquePointer) {
    unsafe self.raw = raw
  }

  deinit { unsafe EVP_PKEY_free(raw) }

  /// Returns the bytes of a parameter, such as the encoded public point.
  func octets(_ name: String, maximumByteCount: Int) throws(CryptoFailure) -> [UInt8] {
    var count = 0
    var bytes = try unsafe byteArray(count: maximumByteCount) { (buffer) throws(CryptoFailure) in
      let result = unsafe EVP_PKEY_get_octet_string_param(
        raw, name, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count, &count)
      try OpenSSLCall.check(result, "EVP_PKEY_get_octet_string_param")
    }
    bytes.removeLast(maximumByteCount - count)
    return bytes
  }
}

/// A prepared operation with a key, which each use duplicates.
///
/// Duplicating a prepared context takes 0.1 microseconds. Preparing one looks up algorithms by name and takes 2
/// microseconds, 3 percent of a verification. The prototype is only read, so threads may duplicate it concurrently.
@safe struct KeyOperation: ~Copyable, @unchecked Sendable {
  let raw: OpaquePointer

  /// Prepares an operation with `prepare`, such as `EVP_PKEY_verify_init`.
  init(
    _ key: KeyHandle, _ function: String, _ prepare: (OpaquePointer) -> Int32
  ) throws(CryptoFailure) {
    guard let raw = unsafe EVP_PKEY_CTX_new(key.raw, nil) else {
      throw OpenSSLCall.failure("EVP_PKEY_CTX_new")
    }
    guard unsafe prepare(raw) == 1 else {
      unsafe EVP_PKEY_CTX_free(raw)
      throw OpenSSLCall.failure(function)
    }
    unsafe self.raw = raw
  }

  init(duplicating prototype: borrowing KeyOperation) throws(CryptoFailure) {
    guard let raw = unsafe EVP_PKEY_CTX_dup(prototype.raw) else {
      throw OpenSSLCall.failure("EVP_PKEY_CTX_dup")
    }
    unsafe self.raw = raw
  }

  deinit { unsafe EVP_PKEY_CTX_free(raw) }

  /// Verifies a signature of a digest; the operation stays usable.
  ///
  /// The corresponding C function is `EVP_PKEY_verify`.
  borrowing func verifies(_ signature: [UInt8], digest: [UInt8]) -> Bool {
    let result = unsafe EVP_PKEY_verify(raw, signature, signature.count, digest, digest.count)
    if result != 1 { OpenSSLCall.forgetErrors() }
    return result == 1
  }

  /// Signs a digest.
  ///
  /// The corresponding C function is `EVP_PKEY_sign`.
  consuming func sign(_ digest: [UInt8], maximumByteCount: Int) throws(CryptoFailure) -> [UInt8] {
    var count = maximumByteCount
    var bytes = try unsafe byteArray(count: maximumByteCount) { (buffer) throws(CryptoFailure) in
      let result = unsafe EVP_PKEY_sign(
        raw, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, digest, digest.count)
      try OpenSSLCall.check(result, "EVP_PKEY_sign")
    }
    bytes.removeLast(maximumByteCount - count)
    return bytes
  }
}

/// A big number that is wiped when freed.
@safe struct BigNumber: ~Copyable {
  let raw: OpaquePointer

  /// Creates a number from big-endian bytes.
  ///
  /// It is marked as secret: OpenSSL wipes its copies and uses constant-time algorithms.
  init(bigEndian bytes: Span<UInt8>) throws(CryptoFailure) {
    guard let raw = unsafe BN_secure_new() else { throw .outOfMemory }
    let result = unsafe bytes.withUnsafeBytes { bytes in
      unsafe BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), raw)
    }
    guard unsafe result != nil else {
      unsafe BN_clear_free(raw)
      throw OpenSSLCall.failure("BN_bin2bn")
    }
    unsafe BN_set_flags(raw, BN_FLG_CONSTTIME)
    unsafe self.raw = raw
  }

  /// Reads the number of a key's parameter, such as the private scalar.
  init(_ name: String, of key: KeyHandle) throws(CryptoFailure) {
    var number: OpaquePointer?
    let result = unsafe EVP_PKEY_get_bn_param(key.raw, name, &number)
    guard result == 1, let number = unsafe number else {
      throw OpenSSLCall.failure("EVP_PKEY_get_bn_param")
    }
    unsafe raw = number
  }

  deinit { unsafe BN_clear_free(raw) }

  /// Returns big-endian bytes with leading zeros.
  func secretBytes(byteCount: Int) throws(CryptoFailure) -> SecretBytes {
    try unsafe SecretBytes(
      byteCount: byteCount,
      writing: { (buffer) throws(CryptoFailure) in
        let written = unsafe BN_bn2binpad(
          raw, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(buffer.count))
        guard Int(written) == buffer.count else { throw OpenSSLCall.failure("BN_bn2binpad") }
      })
  }
}

/// A builder of a key from its parameters.
///
/// The corresponding C functions are `OSSL_PARAM_BLD_…` and `EVP_PKEY_fromdata`.
@safe struct KeyBuilder: ~Copyable {
  private let raw: OpaquePointer

  init() throws(CryptoFailure) {
    guard let raw = unsafe OSSL_PARAM_BLD_new() else { throw .outOfMemory }
    unsafe self.raw = raw
  }

  deinit { unsafe OSSL_PARAM_BLD_free(raw) }

  func setText(_ name: StaticString, _ value: StaticString) throws(CryptoFailure) {
    // The builder keeps the pointers, so names and texts must be static.
    let result = name.withUTF8Buffer { name in
      value.withUTF8Buffer { value in
        unsafe OSSL_PARAM_BLD_push_utf8_string(raw, characters(name), characters(value), value.count)
      }
    }
    try OpenSSLCall.check(result, "OSSL_PARAM_BLD_push_utf8_string")
  }

  /// Sets a number, which must live until the key is built.
  func setNumber(_ name: StaticString, _ value: borrowing BigNumber) throws(CryptoFailure) {
    let number = unsafe value.raw
    let result = name.withUTF8Buffer { unsafe OSSL_PARAM_BLD_push_BN(raw, characters($0), number) }
    try OpenSSLCall.check(result, "OSSL_PARAM_BLD_push_BN")
  }

  /// Sets bytes, whose memory must live until the key is built.
  func setOctets(_ name: StaticString, _ value: UnsafeRawBufferPointer) throws(CryptoFailure) {
    let result = name.withUTF8Buffer {
      unsafe OSSL_PARAM_BLD_push_octet_string(raw, characters($0), value.baseAddress, value.count)
    }
    try OpenSSLCall.check(result, "OSSL_PARAM_BLD_push_octet_string")
  }

  func build(_ algorithm: String, selection: Int32) throws(CryptoFailure) -> KeyHandle {
    guard let parameters = unsafe OSSL_PARAM_BLD_to_param(raw) else {
      throw OpenSSLCall.failure("OSSL_PARAM_BLD_to_param")
    }
    defer { unsafe OSSL_PARAM_free(parameters) }  // wipes copies of secret numbers
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
      throw OpenSSLCall.failure("EVP_PKEY_CTX_new_from_name")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try OpenSSLCall.check(unsafe EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
    var key: OpaquePointer?
    let result = unsafe EVP_PKEY_fromdata(context, &key, selection, parameters)
    guard result == 1, let key = unsafe key else { throw OpenSSLCall.failure("EVP_PKEY_fromdata") }
    return unsafe KeyHandle(owning: key)
  }

  private func characters(_ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
    unsafe UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
  }
}
