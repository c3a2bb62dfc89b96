#if os(Linux)
  import SignetCrypto

  /// A C structure that holds a secret: it has one owner, is zeroed at the start, and is wiped at the end.
  @safe struct Wiped<Structure: BitwiseCopyable>: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer

    init() {
      unsafe memory = .allocate(
        byteCount: MemoryLayout<Structure>.size, alignment: MemoryLayout<Structure>.alignment)
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
      unsafe wipe(memory)
      unsafe memory.deallocate()
    }

    /// Lends the structure to a C call, or for filling in place.
    borrowing func withPointer<R: ~Copyable, E: Error>(
      _ body: (UnsafeMutablePointer<Structure>) throws(E) -> R
    ) throws(E) -> R {
      guard let base = unsafe memory.baseAddress else { preconditionFailure("a structure has bytes") }
      return try unsafe body(base.assumingMemoryBound(to: Structure.self))
    }
  }

  /// Copies bytes into the fixed buffer of a C structure.
  ///
  /// - Returns: The number of bytes, for the structure's `size` field.
  func fill<Buffer>(_ buffer: inout Buffer, _ bytes: [UInt8]) -> UInt16 {
    unsafe withUnsafeMutableBytes(of: &buffer) { target in
      precondition(bytes.count <= target.count, "\(bytes.count) bytes in a buffer of \(target.count)")
      unsafe target.copyBytes(from: bytes)
    }
    return UInt16(bytes.count)
  }

  /// Copies a secret into the fixed buffer of a C structure that is wiped afterwards.
  func fill<Buffer>(_ buffer: inout Buffer, _ secret: borrowing SecretBytes) -> UInt16 {
    secret.withBytes { span in
      unsafe withUnsafeMutableBytes(of: &buffer) { target in
        precondition(span.byteCount <= target.count, "\(span.byteCount) bytes in a buffer of \(target.count)")
        unsafe span.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      }
      return UInt16(span.byteCount)
    }
  }

  /// The first bytes of the fixed buffer of a C structure.
  func prefix<Buffer>(_ buffer: Buffer, _ count: UInt16) -> [UInt8] {
    unsafe withUnsafeBytes(of: buffer) { unsafe Array($0.prefix(Int(count))) }
  }
#endif
