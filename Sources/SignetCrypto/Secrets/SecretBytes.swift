import COpenSSL

/// Key bytes with one owner, wiped when the owner's lifetime ends.
///
/// The bytes are kept out of swap and core dumps if the system supports it. A secret cannot be copied by accident, printed,
/// compared with `==` or put in an array; ``SharedSecretBox`` shares one between several users.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {  // immutable after init
  private let memory: SecretMemory

  /// Creates a secret that `fill` writes in place, without a second copy; if `fill` throws, the bytes are wiped.
  ///
  /// - Precondition: `fill` writes exactly `byteCount` bytes, unless it throws.
  public init<E: Error>(byteCount: Int, fill: (inout OutputRawSpan) throws(E) -> Void) throws(E) {
    precondition(byteCount >= 0, "a secret cannot have \(byteCount) bytes")
    try unsafe self.init(
      byteCount: byteCount,
      writing: { (buffer) throws(E) in
        var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
        try fill(&output)
        let written = unsafe output.finalize(for: buffer)
        precondition(written == byteCount, "fill wrote \(written) of \(byteCount) bytes")
      })
  }

  /// Copies a span; the owner must wipe the original.
  public init(copying bytes: RawSpan) {
    unsafe self.init(
      byteCount: bytes.byteCount,
      writing: { buffer in unsafe bytes.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) } })
  }

  /// Copies an array; the caller must wipe the original if necessary.
  public init(copying bytes: [UInt8]) {
    self.init(copying: unsafe bytes.span.bytes)
  }

  /// Creates a secret that a C function writes; if `write` throws, the bytes are wiped.
  init<E: Error>(
    byteCount: Int, writing write: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    let memory = SecretMemory.allocate(byteCount: byteCount)
    do throws(E) {
      try unsafe write(memory.buffer)
    } catch {
      memory.wipeAndFree()
      throw error
    }
    self.memory = memory
    COpenSSL_wipe_vector_registers()  // the copy passes through them
  }

  /// Creates a secret in memory that the caller frees after this value has wiped it: for tests of the wiping.
  package init(borrowing buffer: UnsafeMutableRawBufferPointer) {
    memory = unsafe SecretMemory.borrow(buffer)
  }

  deinit { memory.wipeAndFree() }

  /// Creates a secret of `byteCount` random bytes from OpenSSL's generator for private values.
  public static func random(byteCount: Int) -> SecretBytes {
    precondition(byteCount >= 0, "a secret cannot have \(byteCount) bytes")
    return unsafe SecretBytes(byteCount: byteCount, writing: { unsafe RandomGenerator.fillPrivately($0) })
  }

  /// The number of bytes; it is not secret.
  public var byteCount: Int { unsafe memory.buffer.count }

  /// Lends the bytes to `body`; the span cannot outlive the call.
  public borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try body(unsafe memory.buffer.bytes)
  }

  /// Lends the bytes to `body` as numbers; the span cannot outlive the call.
  public borrowing func withUInt8Span<R: ~Copyable, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    try body(unsafe Span(_unsafeBytes: UnsafeRawBufferPointer(memory.buffer)))
  }

  /// Creates a second secret with the same bytes and another owner.
  public borrowing func copy() -> SecretBytes {
    withBytes { SecretBytes(copying: $0) }
  }

  /// Returns the bytes of this secret followed by those of `other`.
  public borrowing func joined(with other: borrowing SecretBytes) -> SecretBytes {
    let first = byteCount
    return other.withBytes { tail in
      withBytes { head in
        unsafe SecretBytes(
          byteCount: first + tail.byteCount,
          writing: { buffer in
            unsafe head.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[first...])
            unsafe tail.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
          })
      }
    }
  }

  /// Combines each byte with that of `other` by exclusive or, to apply or remove a keystream.
  ///
  /// - Precondition: Both have the same length.
  public borrowing func exclusiveOr(with other: borrowing SecretBytes) -> SecretBytes {
    let count = byteCount
    precondition(count == other.byteCount, "exclusive or takes two secrets of one length")
    return other.withUInt8Span { right in
      withUInt8Span { left in
        SecretBytes(byteCount: count) { output in
          for index in 0..<count { output.append(left[index] ^ right[index]) }
        }
      }
    }
  }

  /// Compares two secrets in a time that depends only on their lengths.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    other.withUInt8Span { right in withUInt8Span { left in ConstantTime.areEqual(left, right) } }
  }

  /// Lends the bytes to `body` in an array that is wiped afterwards, for callees that do not accept a span.
  ///
  /// `body` must wipe every array or string that it makes of it. An array that outlives the call keeps the bytes.
  public borrowing func withTemporaryArray<R: ~Copyable, E: Error>(
    _ body: ([UInt8]) throws(E) -> R
  ) throws(E) -> R {
    var array = insecureCopy()
    defer { array.wipe() }
    return try body(array)
  }

  /// Copies the bytes to an array that is not wiped: for output as text or over a foreign interface only.
  public borrowing func insecureCopy() -> [UInt8] {
    withUInt8Span { span in
      var copy: [UInt8] = []
      copy.reserveCapacity(span.count)
      for index in span.indices { copy.append(span[index]) }
      return copy
    }
  }
}

extension [UInt8] {
  /// Overwrites the bytes in place; if another array shares the memory, only this array's new copy is overwritten.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in unsafe SignetCrypto.wipe(bytes) }
  }
}

/// A secret with several users: a box that can be copied, kept in arrays and held by actors.
///
/// The bytes are wiped when the last user releases the box.
public final class SharedSecretBox: Sendable {
  private let secret: SecretBytes

  /// Takes ownership of `secret`.
  public init(_ secret: consuming SecretBytes) {
    self.secret = secret
  }

  /// Lends the secret to `body`.
  public func withSecret<R: ~Copyable, E: Error>(
    _ body: (borrowing SecretBytes) throws(E) -> R
  ) throws(E) -> R {
    try body(secret)
  }
}

/// Compares arrays in a time that depends only on their lengths.
///
/// Arrays of different lengths are unequal at once: the length of a code or tag is not secret.
public func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  ConstantTime.areEqual(a.span, b.span)
}
