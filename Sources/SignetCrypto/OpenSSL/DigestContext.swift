import COpenSSL

/// A hash function of OpenSSL, fetched once: a fetch by name costs more than hashing a short message.
@safe struct DigestAlgorithm: @unchecked Sendable {  // fetched algorithms are immutable and never freed
  let raw: OpaquePointer
  let name: String

  private init(_ name: String) {
    guard let raw = unsafe EVP_MD_fetch(nil, name, nil) else {
      preconditionFailure("this OpenSSL has no \(name); install its default provider")
    }
    unsafe self.raw = raw
    self.name = name
  }

  /// Hashes a message in one call.
  func digest(of message: Span<UInt8>, byteCount: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initializedCount in
      unsafe write(digestOf: message, to: buffer.baseAddress)
      initializedCount = byteCount
    }
  }

  /// Hashes a secret; the digest is secret too.
  func secretDigest(of message: Span<UInt8>, byteCount: Int) -> SecretBytes {
    unsafe SecretBytes(
      byteCount: byteCount,
      writing: { buffer in
        unsafe write(digestOf: message, to: buffer.baseAddress?.assumingMemoryBound(to: UInt8.self))
      })
  }

  /// Writes the digest of a message; the corresponding C function is `EVP_Digest`.
  private func write(digestOf message: Span<UInt8>, to output: UnsafeMutablePointer<UInt8>?) {
    let result = unsafe message.withUnsafeBytes {
      unsafe EVP_Digest($0.baseAddress, $0.count, output, nil, raw, nil)
    }
    precondition(result == 1, "EVP_Digest refused bytes")
  }

  static let sha1 = DigestAlgorithm("SHA1")
  static let sha224 = DigestAlgorithm("SHA2-224")
  static let sha256 = DigestAlgorithm("SHA2-256")
  static let sha384 = DigestAlgorithm("SHA2-384")
  static let sha512 = DigestAlgorithm("SHA2-512")
}

/// A hash computation in progress.
///
/// The corresponding C functions are `EVP_DigestInit_ex2`, `EVP_DigestUpdate` and `EVP_DigestFinal_ex`.
@safe struct DigestContext: ~Copyable, @unchecked Sendable {  // one owner, so one thread at a time
  private let raw: OpaquePointer
  private let byteCount: Int

  init(_ function: HashFunction) {
    guard let raw = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    let result = unsafe EVP_DigestInit_ex2(raw, function.algorithm.raw, nil)
    precondition(result == 1, "EVP_DigestInit_ex2 refused a fetched algorithm")
    unsafe self.raw = raw
    byteCount = function.byteCount
  }

  deinit { unsafe EVP_MD_CTX_free(raw) }  // wipes the state

  mutating func update(_ bytes: Span<UInt8>) {
    let result = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(raw, $0.baseAddress, $0.count) }
    precondition(result == 1, "EVP_DigestUpdate refused bytes")
  }

  consuming func finish() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initializedCount in
      let result = unsafe EVP_DigestFinal_ex(raw, buffer.baseAddress, nil)
      precondition(result == 1, "EVP_DigestFinal_ex refused to finish")
      initializedCount = byteCount
    }
  }
}
