import CArgon2
import COpenSSL

/// The C functions that derive a key from a password.
enum PasswordFunctions {
  /// Derives with PBKDF2; the corresponding C function is `PKCS5_PBKDF2_HMAC`.
  static func pbkdf2(
    password: Span<UInt8>, salt: Span<UInt8>, iterations: Int, byteCount: Int, _ hash: HashFunction
  ) throws(CryptoFailure) -> SecretBytes {
    try unsafe password.withUnsafeBytes { (password) throws(CryptoFailure) in
      try unsafe salt.withUnsafeBytes { (salt) throws(CryptoFailure) in
        try unsafe SecretBytes(
          byteCount: byteCount,
          writing: { (output) throws(CryptoFailure) in
            let result = unsafe PKCS5_PBKDF2_HMAC(
              // A null password counts as an empty one, which it is.
              password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count),
              salt.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(salt.count),
              Int32(iterations), hash.algorithm.raw, Int32(byteCount),
              output.baseAddress?.assumingMemoryBound(to: UInt8.self))
            try OpenSSLCall.check(result, "PKCS5_PBKDF2_HMAC")
          })
      }
    }
  }

  /// Derives with scrypt; the corresponding C function is `EVP_PBE_scrypt`.
  static func scrypt(
    password: Span<UInt8>, salt: Span<UInt8>, byteCount: Int, _ scrypt: Scrypt
  ) throws(CryptoFailure) -> SecretBytes {
    try unsafe password.withUnsafeBytes { (password) throws(CryptoFailure) in
      try unsafe salt.withUnsafeBytes { (salt) throws(CryptoFailure) in
        try unsafe SecretBytes(
          byteCount: byteCount,
          writing: { (output) throws(CryptoFailure) in
            let memory = 128 * scrypt.blockSize * (scrypt.cost + scrypt.parallelization + 2)
            let result = unsafe EVP_PBE_scrypt(
              password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count,
              salt.baseAddress?.assumingMemoryBound(to: UInt8.self), salt.count,
              UInt64(scrypt.cost), UInt64(scrypt.blockSize), UInt64(scrypt.parallelization),
              UInt64(memory) + 1_048_576,
              output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
            // The parameters are in range, so the only remaining cause of failure is memory.
            guard result == 1 else {
              OpenSSLCall.forgetErrors()
              throw .outOfMemory
            }
          })
      }
    }
  }

  /// Derives with Argon2id; the corresponding C function is `argon2id_ctx`, which wipes its memory before it frees it.
  static func argon2id(
    password: Span<UInt8>, salt: Span<UInt8>, secret: Span<UInt8>, associatedData: Span<UInt8>,
    byteCount: Int, _ cost: Argon2id
  ) throws(CryptoFailure) -> SecretBytes {
    try unsafe password.withUnsafeBytes { (password) throws(CryptoFailure) in
      try unsafe salt.withUnsafeBytes { (salt) throws(CryptoFailure) in
        try unsafe secret.withUnsafeBytes { (secret) throws(CryptoFailure) in
          try unsafe associatedData.withUnsafeBytes { (associatedData) throws(CryptoFailure) in
            try unsafe SecretBytes(
              byteCount: byteCount,
              writing: { (output) throws(CryptoFailure) in
                var context = unsafe argon2_context()
                unsafe context.out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe context.outlen = UInt32(output.count)
                unsafe (context.pwd, context.pwdlen) = inputPointer(password)
                unsafe (context.salt, context.saltlen) = inputPointer(salt)
                unsafe (context.secret, context.secretlen) = inputPointer(secret)
                unsafe (context.ad, context.adlen) = inputPointer(associatedData)
                unsafe context.t_cost = UInt32(cost.passes)
                unsafe context.m_cost = UInt32(cost.memoryKiB)
                unsafe context.lanes = UInt32(cost.lanes)
                unsafe context.threads = UInt32(cost.lanes)
                unsafe context.version = ARGON2_VERSION_13.rawValue
                unsafe context.allocate_cbk = { unsafe Argon2Memory.allocate($0, $1) }
                unsafe context.free_cbk = { unsafe Argon2Memory.free($0, $1) }
                // Without flags, argon2 only reads its inputs, so the cast away from const is sound.
                let code = unsafe argon2id_ctx(&context)
                guard code == ARGON2_OK.rawValue else {
                  if code == ARGON2_MEMORY_ALLOCATION_ERROR.rawValue { throw .outOfMemory }
                  throw .library(function: "argon2id_ctx", code: UInt(bitPattern: Int(code)))
                }
              })
          }
        }
      }
    }
  }

  private static func inputPointer(
    _ bytes: UnsafeRawBufferPointer
  ) -> (UnsafeMutablePointer<UInt8>?, UInt32) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return (nil, 0) }
    return unsafe (
      UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self)), UInt32(bytes.count)
    )
  }
}
