import COpenSSL

/// OpenSSL's random generators.
///
/// The corresponding C functions are `RAND_bytes` and `RAND_priv_bytes`.
enum RandomGenerator {
  static func bytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      if count > 0 {
        let result = unsafe RAND_bytes(buffer.baseAddress, Int32(count))
        precondition(result == 1, "the system has no random bytes; nothing can be done safely")
      }
      initializedCount = count
    }
  }

  static func fillPrivately(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress, buffer.count > 0 else { return }
    let bytes = unsafe base.assumingMemoryBound(to: UInt8.self)
    let result = unsafe RAND_priv_bytes(bytes, Int32(buffer.count))
    precondition(result == 1, "the system has no random bytes; nothing can be done safely")
  }
}

/// Lends raw bytes as `UInt8` values; every byte is a valid one.
func withUInt8Span<R: ~Copyable, E: Error>(
  of bytes: RawSpan, _ body: (Span<UInt8>) throws(E) -> R
) throws(E) -> R {
  try unsafe bytes.withUnsafeBytes { (bytes) throws(E) in try body(unsafe Span(_unsafeBytes: bytes)) }
}

/// Comparisons in constant time.
///
/// The corresponding C function is `CRYPTO_memcmp`.
enum ConstantTime {
  static func areEqual(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe a.withUnsafeBytes { left in
      unsafe b.withUnsafeBytes { right in
        guard let left = left.baseAddress, let right = right.baseAddress else { return true }
        return unsafe CRYPTO_memcmp(left, right, a.count) == 0
      }
    }
  }
}
