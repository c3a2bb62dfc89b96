import COpenSSL

/// Key bytes with one owner, wiped when that owner's lifetime ends.
///
/// The bytes are kept out of swap and core dumps where the system allows it. A secret cannot be copied by
/// accident, printed, compared with `==` or put in an array; ``SharedSecretBox`` holds one that has many users.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {  // never written after init
  private let memory: SecretMemory

  /// Creates a secret that `fill` writes in place, so there is no second copy; if `fill` throws, what it wrote is wiped.
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

  /// Copies `bytes`; the original is its owner's to wipe.
  public init(copying bytes: RawSpan) {
    unsafe self.init(
      byteCount: bytes.byteCount,
      writing: { buffer in unsafe bytes.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) } })
  }

  /// Copies `bytes`; the array stays the caller's to wipe or to forget.
  public init(copying bytes: [UInt8]) {
    self.init(copying: unsafe bytes.span.bytes)
  }

  /// Creates a secret that a C function writes; if `write` throws, what it wrote is wiped.
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
    COpenSSL_wipe_vector_registers()  // copying goes through them
  }

  /// Makes a secret of memory that the caller frees after this value has wiped it: for tests of the wiping.
  package init(borrowing buffer: UnsafeMutableRawBufferPointer) {
    memory = unsafe SecretMemory.borrow(buffer)
  }

  deinit { memory.wipeAndFree() }

  /// Creates a secret of `byteCount` random bytes from the generator that OpenSSL keeps for private values.
  public static func random(byteCount: Int) -> SecretBytes {
    precondition(byteCount >= 0, "a secret cannot have \(byteCount) bytes")
    return unsafe SecretBytes(byteCount: byteCount, writing: { unsafe RandomGenerator.fillPrivately($0) })
  }

  /// The number of bytes, which is not secret.
  public var byteCount: Int { unsafe memory.buffer.count }

  /// Lends the bytes to `body`; the span cannot outlive the call.
  public borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try body(unsafe memory.buffer.bytes)
  }

  /// Lends the bytes to `body` as numbers that can be read one by one; the span cannot outlive the call.
  public borrowing func withUInt8Span<R: ~Copyable, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    try body(unsafe Span(_unsafeBytes: UnsafeRawBufferPointer(memory.buffer)))
  }

  /// A second secret with the same bytes and an owner of its own.
  public borrowing func copy() -> SecretBytes {
    withBytes { SecretBytes(copying: $0) }
  }

  /// The bytes of this secret followed by those of `other`.
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

  /// Each byte of this secret combined with that of `other` by exclusive or: a keystream laid on or taken off.
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

  /// Whether both secrets have the same bytes, in a time that depends only on their lengths.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    other.withUInt8Span { right in withUInt8Span { left in ConstantTime.areEqual(left, right) } }
  }

  /// Lends the bytes to `body` in an array that is wiped afterwards: for what takes no span.
  ///
  /// An array, or a string, that `body` makes of it is its own to wipe. One that outlives the call keeps the bytes.
  public borrowing func withTemporaryArray<R: ~Copyable, E: Error>(
    _ body: ([UInt8]) throws(E) -> R
  ) throws(E) -> R {
    var array = insecureCopy()
    defer { array.wipe() }
    return try body(array)
  }

  /// The bytes in an array that nobody wipes: only for what must leave as text or over a foreign interface.
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
  /// Overwrites the bytes in place; where another array shares the memory, only this one's copy of it.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in unsafe SignetCrypto.wipe(bytes) }
  }
}
