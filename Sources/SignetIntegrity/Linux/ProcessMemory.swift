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
  }

  /// A file that stays open while parts of it are read.
  package struct FileBytes: ~Copyable {
    private let descriptor: Int32

    package init?(_ path: String) {
      descriptor = unsafe signet_kernel_open(path)
      if descriptor < 0 { return nil }
    }

    deinit { signet_kernel_close(descriptor) }

    /// `count` bytes from `offset` on; `nil` unless all of them are there.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
      guard count > 0, count <= 64 << 20, offset <= UInt64(Int64.max) else { return nil }
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
        while initializedCount < count {
          let read = unsafe signet_kernel_read_at(
            descriptor, buffer.baseAddress?.advanced(by: initializedCount), count - initializedCount,
            Int64(offset) + Int64(initializedCount))
          if read == -Int(EINTR) { continue }
          guard read > 0 else { break }
          initializedCount += read
        }
      }
      return bytes.count == count ? bytes : nil
    }
  }
#endif
