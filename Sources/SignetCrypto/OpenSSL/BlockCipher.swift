import COpenSSL

/// An OpenSSL cipher, fetched once, with one-shot encryption and decryption.
///
/// The corresponding C functions are `EVP_CipherInit_ex2`, `EVP_CipherUpdate` and `EVP_CipherFinal_ex`.
@safe struct BlockCipher: @unchecked Sendable {  // fetched algorithms are immutable and never freed
  private let raw: OpaquePointer

  private init(_ name: String) {
    guard let raw = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
      preconditionFailure("this OpenSSL has no \(name); install its default provider")
    }
    unsafe self.raw = raw
  }

  private static let aes128GCM = BlockCipher("AES-128-GCM")
  private static let aes256GCM = BlockCipher("AES-256-GCM")
  private static let aes128CBC = BlockCipher("AES-128-CBC")
  private static let aes256CBC = BlockCipher("AES-256-CBC")
  static let aes128CFB = BlockCipher("AES-128-CFB")
  private static let aes128Wrap = BlockCipher("AES-128-WRAP")
  private static let aes192Wrap = BlockCipher("AES-192-WRAP")
  private static let aes256Wrap = BlockCipher("AES-256-WRAP")

  /// Returns AES-GCM for a key of 16 or 32 bytes.
  static func gcm(keyByteCount: Int) throws(CryptoFailure) -> BlockCipher {
    switch keyByteCount {
    case 16: aes128GCM
    case 32: aes256GCM
    default: throw .keyLength(keyByteCount)
    }
  }

  /// Returns AES-CBC for a key of 16 or 32 bytes.
  static func cbc(keyByteCount: Int) throws(CryptoFailure) -> BlockCipher {
    switch keyByteCount {
    case 16: aes128CBC
    case 32: aes256CBC
    default: throw .keyLength(keyByteCount)
    }
  }

  /// Returns AES key wrap for a key of 16, 24 or 32 bytes.
  static func keyWrap(keyByteCount: Int) throws(CryptoFailure) -> BlockCipher {
    switch keyByteCount {
    case 16: aes128Wrap
    case 24: aes192Wrap
    case 32: aes256Wrap
    default: throw .keyLength(keyByteCount)
    }
  }

  /// The longest message, in bytes: OpenSSL's `int`, less room for a block.
  static let maximumByteCount = Int(Int32.max) - 64

  /// Encrypts with GCM; `output` receives the ciphertext and then a tag of 16 bytes.
  func seal(
    _ plaintext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoFailure) {
    var context = try CipherContext(self, key: key, vector: nonce, encrypts: true)
    try context.authenticate(additionalData)
    let count = try unsafe context.update(plaintext, into: output)
    let rest = try unsafe context.finish(into: output, at: count)
    guard count + rest == plaintext.count else { throw OpenSSLCall.failure("EVP_CipherFinal_ex") }
    try unsafe context.readTag(into: UnsafeMutableRawBufferPointer(rebasing: output[plaintext.count...]))
  }

  /// Decrypts with GCM; if this throws, the caller must wipe `output`, which has unauthenticated plaintext.
  func open(
    _ ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
    additionalData: Span<UInt8>, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoFailure) {
    var context = try CipherContext(self, key: key, vector: nonce, encrypts: false)
    try context.authenticate(additionalData)
    let count = try unsafe context.update(ciphertext, into: output)
    try context.expectTag(tag)
    do throws(CryptoFailure) {
      _ = try unsafe context.finish(into: output, at: count)
    } catch {
      throw .authenticationFailed
    }
  }

  /// Encrypts or decrypts the whole `input` and returns the number of output bytes.
  func apply(
    _ input: Span<UInt8>, key: Span<UInt8>, vector: Span<UInt8>, encrypts: Bool, wraps: Bool = false,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoFailure) -> Int {
    var context = try CipherContext(self, key: key, vector: vector, encrypts: encrypts, wraps: wraps)
    let count = try unsafe context.update(input, into: output)
    return try unsafe count + context.finish(into: output, at: count)
  }

  /// One encryption or decryption in progress.
  @safe private struct CipherContext: ~Copyable {
    private let raw: OpaquePointer

    /// Starts an operation; an empty `vector` selects the mode's own initial value.
    init(
      _ cipher: BlockCipher, key: Span<UInt8>, vector: Span<UInt8>, encrypts: Bool, wraps: Bool = false
    ) throws(CryptoFailure) {
      guard let raw = unsafe EVP_CIPHER_CTX_new() else { throw .outOfMemory }
      // OpenSSL requires this flag, because wrapping writes more output than other modes.
      if wraps { unsafe EVP_CIPHER_CTX_set_flags(raw, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW) }
      let result = unsafe key.withUnsafeBytes { key in
        unsafe vector.withUnsafeBytes { vector in
          unsafe EVP_CipherInit_ex2(
            raw, cipher.raw, key.baseAddress?.assumingMemoryBound(to: UInt8.self),
            vector.count == 0 ? nil : vector.baseAddress?.assumingMemoryBound(to: UInt8.self),
            encrypts ? 1 : 0, nil)
        }
      }
      guard result == 1 else {
        unsafe EVP_CIPHER_CTX_free(raw)
        throw OpenSSLCall.failure("EVP_CipherInit_ex2")
      }
      unsafe self.raw = raw
    }

    deinit { unsafe EVP_CIPHER_CTX_free(raw) }  // wipes the key schedule

    mutating func authenticate(_ additionalData: Span<UInt8>) throws(CryptoFailure) {
      guard !additionalData.isEmpty else { return }
      var written: Int32 = 0
      let result = unsafe additionalData.withUnsafeBytes { data in
        unsafe EVP_CipherUpdate(
          raw, nil, &written, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(data.count))
      }
      try OpenSSLCall.check(result, "EVP_CipherUpdate")
    }

    mutating func update(
      _ input: Span<UInt8>, into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoFailure) -> Int {
      guard !input.isEmpty else { return 0 }
      var written: Int32 = 0
      let result = unsafe input.withUnsafeBytes { input in
        unsafe EVP_CipherUpdate(
          raw, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &written,
          input.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(input.count))
      }
      try OpenSSLCall.check(result, "EVP_CipherUpdate")
      return Int(written)
    }

    mutating func finish(
      into output: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(CryptoFailure) -> Int {
      var written: Int32 = 0
      var nothing: UInt8 = 0
      let pointer = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      let result =
        if let pointer = unsafe pointer {
          unsafe EVP_CipherFinal_ex(raw, pointer + offset, &written)
        } else {
          unsafe EVP_CipherFinal_ex(raw, &nothing, &written)
        }
      try OpenSSLCall.check(result, "EVP_CipherFinal_ex")
      return Int(written)
    }

    mutating func readTag(into output: UnsafeMutableRawBufferPointer) throws(CryptoFailure) {
      let result = unsafe EVP_CIPHER_CTX_ctrl(
        raw, EVP_CTRL_AEAD_GET_TAG, Int32(output.count), output.baseAddress)
      try OpenSSLCall.check(result, "EVP_CIPHER_CTX_ctrl")
    }

    mutating func expectTag(_ tag: Span<UInt8>) throws(CryptoFailure) {
      let result = unsafe tag.withUnsafeBytes { tag in
        unsafe EVP_CIPHER_CTX_ctrl(
          raw, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), UnsafeMutableRawPointer(mutating: tag.baseAddress))
      }
      try OpenSSLCall.check(result, "EVP_CIPHER_CTX_ctrl")
    }
  }
}

extension BlockCipher {
  /// Encrypts with GCM to an array of `prefix`, ciphertext and tag.
  func sealed(
    _ plaintext: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>,
    after prefix: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    try unsafe byteArray(count: prefix.count + plaintext.count + 16) { (buffer) throws(CryptoFailure) in
      unsafe buffer.copyBytes(from: prefix)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...])
      try unsafe seal(plaintext, key: key, nonce: nonce, additionalData: additionalData, into: rest)
    }
  }

  /// Decrypts with GCM to a secret.
  func openedSecret(
    _ ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
    additionalData: Span<UInt8>
  ) throws(CryptoFailure) -> SecretBytes {
    try unsafe SecretBytes(
      byteCount: ciphertext.count,
      writing: { (buffer) throws(CryptoFailure) in
        try unsafe open(
          ciphertext, tag: tag, key: key, nonce: nonce, additionalData: additionalData, into: buffer)
      })
  }

  /// Decrypts with GCM to an array.
  func openedBytes(
    _ ciphertext: Span<UInt8>, tag: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>,
    additionalData: Span<UInt8>
  ) throws(CryptoFailure) -> [UInt8] {
    try unsafe byteArray(count: ciphertext.count) { (buffer) throws(CryptoFailure) in
      try unsafe open(
        ciphertext, tag: tag, key: key, nonce: nonce, additionalData: additionalData, into: buffer)
    }
  }

  /// Encrypts or decrypts to at most `capacity` bytes, and returns only the bytes that were written.
  func applied(
    to input: Span<UInt8>, key: Span<UInt8>, vector: Span<UInt8>, encrypts: Bool, wraps: Bool = false,
    capacity: Int
  ) throws(CryptoFailure) -> [UInt8] {
    var count = 0
    var bytes = try unsafe byteArray(count: capacity) { (buffer) throws(CryptoFailure) in
      count = try unsafe apply(
        input, key: key, vector: vector, encrypts: encrypts, wraps: wraps, into: buffer)
      unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
    }
    bytes.removeLast(capacity - count)
    return bytes
  }

  /// Unwraps to a secret of exactly 8 bytes less than the input.
  func unwrappedSecret(_ input: Span<UInt8>, key: Span<UInt8>) throws(CryptoFailure) -> SecretBytes {
    // OpenSSL writes over room for the whole input before it has checked the integrity.
    let capacity = input.count + 8
    let standardVector: [UInt8] = []
    let whole = try unsafe SecretBytes(
      byteCount: capacity,
      writing: { (buffer) throws(CryptoFailure) in
        do throws(CryptoFailure) {
          let count = try unsafe apply(
            input, key: key, vector: standardVector.span, encrypts: false, wraps: true, into: buffer)
          guard count == input.count - 8 else { throw .authenticationFailed }
          unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        } catch {
          throw .authenticationFailed
        }
      })
    return whole.withBytes { SecretBytes(copying: $0.extracting(first: input.count - 8)) }
  }
}
