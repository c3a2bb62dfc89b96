#if os(Linux)
  import CLinuxProcess
  import SignetCrypto

  /// A whole file that is mapped and not copied: what nobody has changed of a program that runs from it is the same memory twice.
  ///
  /// A file that is cut off while it is read ends the process, as it does one that runs from it.
  package struct MappedFile: ~Copyable {
    /// Its length in bytes.
    package let byteCount: UInt64
    private let start: UInt64

    /// Maps a file; `nil` where it can't be read or is empty.
    package init?(_ path: String) {
      var byteCount: UInt64 = 0
      let result = unsafe signet_map_file(path, &byteCount)
      // The kernel's errors are the last 4095 numbers.
      if (-4095..<0).contains(result) { return nil }
      self.byteCount = byteCount
      start = UInt64(bitPattern: Int64(result))
    }

    deinit { signet_unmap_file(start, byteCount) }

    /// Hashes a part of the file, which must be there.
    func hash(_ part: Range<UInt64>, into hash: inout IncrementalHash) {
      precondition(part.upperBound <= byteCount, "a part of the file")
      let bytes = unsafe UnsafeRawBufferPointer(
        start: UnsafeRawPointer(bitPattern: UInt(start + part.lowerBound)), count: part.count)
      unsafe hash.update(bytes.bytes)
    }

    /// Compares memory of this process, which must be readable, with a part of the file.
    ///
    /// - Parameters:
    ///   - part: Which bytes of the file.
    ///   - address: Where in memory the first of them should be.
    /// - Returns: Whether they are the same; not where the file ends too early.
    package func isSame(_ part: Range<UInt64>, at address: UInt64) -> Bool {
      part.upperBound <= byteCount
        && signet_is_same(start + part.lowerBound, address, part.upperBound - part.lowerBound) == 1
    }
  }
#endif
