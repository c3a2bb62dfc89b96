/// Bytes by address: the memory of this process, or a file laid out as it would be loaded.
package protocol ByteSource {
  /// Reads `count` bytes from `address` on; `nil` unless all of them exist.
  func bytes(at address: UInt64, count: Int) -> [UInt8]?
}

extension ByteSource {
  /// Reads an 8-byte number, little-endian like all processors that Swift supports.
  package func word(at address: UInt64) -> UInt64? {
    bytes(at: address, count: 8).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
  }
}

#if os(Linux)
  import CLinuxProcess

  /// The memory of this process; reading an unmapped address returns `nil` and does not crash.
  package struct ProcessMemory: ByteSource {
    package init() {}

    package func bytes(at address: UInt64, count: Int) -> [UInt8]? {
      guard count > 0, count <= 64 << 20 else { return count == 0 ? [] : nil }
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
        let copied = unsafe signet_copy_memory(buffer.baseAddress, address, count)
        initializedCount = max(0, min(copied, count))
      }
      return bytes.count == count ? bytes : nil
    }

    /// True if memory from `address` on, which must be mapped and readable, has these bytes.
    package func isSame(_ bytes: Span<UInt8>, at address: UInt64) -> Bool {
      unsafe bytes.withUnsafeBytes {
        unsafe signet_is_same($0.baseAddress, address, $0.count) == 1
      }
    }
  }

  /// A file that stays open while parts of it are read.
  package struct FileBytes: ~Copyable {
    private let descriptor: Int32

    package init?(_ path: String) {
      descriptor = unsafe signet_kernel_open(path)
      if descriptor < 0 { return nil }
    }

    deinit { signet_kernel_close(descriptor) }

    /// Reads from `offset` on until `bytes` is full or the file ends.
    ///
    /// - Returns: The number of bytes read; `nil` if the file cannot be read.
    package func read(_ bytes: inout [UInt8], at offset: UInt64) -> Int? {
      guard offset <= UInt64(Int64.max) - UInt64(bytes.count) else { return nil }
      let descriptor = descriptor
      return unsafe bytes.withUnsafeMutableBytes { buffer in
        var filled = 0
        while filled < buffer.count {
          let read = unsafe signet_kernel_read_at(
            descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled,
            Int64(offset) + Int64(filled))
          if read == -Int(EINTR) { continue }
          guard read >= 0 else { return nil }
          if read == 0 { break }
          filled += read
        }
        return filled
      }
    }

    /// Reads `count` bytes from `offset` on; `nil` unless all of them exist.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
      guard count > 0, count <= 64 << 20 else { return count == 0 ? [] : nil }
      var bytes = [UInt8](repeating: 0, count: count)
      return read(&bytes, at: offset) == count ? bytes : nil
    }
  }
#endif
