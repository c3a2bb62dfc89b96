/// Bytes at addresses: the memory of this process, or a file as it would be loaded.
package protocol ByteSource {
  /// `count` bytes from `address` on; `nil` unless all of them are there.
  func bytes(at address: UInt64, count: Int) -> [UInt8]?
}

extension ByteSource {
  /// A number of 8 bytes, in the processor's order, which is little-endian wherever Swift runs.
  package func word(at address: UInt64) -> UInt64? {
    bytes(at: address, count: 8).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
  }
}

#if os(Linux)
  import CLinuxProcess

  /// The memory of this process; what is not there is no crash.
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

    /// Whether memory from `address` on, which must be there and readable, has these bytes.
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

    /// Reads from `offset` on until `bytes` are full, or the file ends.
    ///
    /// - Returns: How many of `bytes` are the file's; `nil` where it can't be read.
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

    /// `count` bytes from `offset` on; `nil` unless all of them are there.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
      guard count > 0, count <= 64 << 20 else { return count == 0 ? [] : nil }
      var bytes = [UInt8](repeating: 0, count: count)
      return read(&bytes, at: offset) == count ? bytes : nil
    }
  }
#endif
