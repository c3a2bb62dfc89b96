#if os(Linux)
  import SignetCrypto

  /// The memory that the C library freed just now, with what it copied there: keys of sessions and authorization values.
  ///
  /// It frees without overwriting, and its structures cannot be reached from outside. But the system's allocator gives a thread
  /// the memory that it freed last when it asks for the same size; so asking for all sizes and overwriting what comes gets it.
  enum DeadHeap {
    /// How many blocks of each size: small ones as many as the allocator keeps at hand; about those that the library has for
    /// handles and sessions; and for its context.
    private static let blocks: [(sizes: StrideThrough<Int>, count: Int)] = [
      (stride(from: 24, through: 1032, by: 16), 7), (stride(from: 1040, through: 2576, by: 32), 4),
      (stride(from: 3072, through: 16_384, by: 1024), 2),
    ]

    /// Overwrites it, as far as it can be got.
    static func wipe() {
      var taken: [UnsafeMutableRawBufferPointer] = unsafe []
      for (sizes, count) in Self.blocks.reversed() {
        for size in sizes.reversed() {
          for _ in 0..<count {
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            unsafe SignetCrypto.wipe(block)
            unsafe taken.append(block)
          }
        }
      }
      unsafe taken.forEach { unsafe $0.deallocate() }
    }
  }
#endif
