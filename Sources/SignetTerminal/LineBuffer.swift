import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of one line, of fixed capacity, wiped when they are no longer needed.
///
/// It is a class, so that the reading thread and the waiting task can share it. The task accesses it only before the reading
/// starts and after it has ended; the lock around the length orders these accesses.
@safe package final class LineBuffer: @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer
  private let length = Mutex(0)

  package init(capacity: Int) {
    unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    wipe()
    unsafe storage.deallocate()
  }

  var capacity: Int { unsafe storage.count }

  package var count: Int { length.withLock { $0 } }

  /// Appends a byte; returns false if the buffer is full.
  package func append(_ byte: UInt8) -> Bool {
    length.withLock { length in
      guard length < capacity else { return false }
      unsafe storage[length] = byte
      length += 1
      return true
    }
  }

  /// Removes the last character: an ASCII byte, or all bytes of a longer UTF-8 sequence.
  func removeLastCharacter() {
    length.withLock { length in
      while length > 0 {
        length -= 1
        let byte = unsafe storage[length]
        unsafe storage[length] = 0
        if byte & 0xC0 != 0x80 { return }
      }
    }
  }

  /// Overwrites everything with a call that the compiler may not remove, and empties the buffer.
  package func wipe() {
    length.withLock { length in
      guard let start = unsafe storage.baseAddress else { return }
      #if canImport(Darwin)
        _ = unsafe memset_s(start, capacity, 0, capacity)
      #else
        unsafe explicit_bzero(start, capacity)
      #endif
      length = 0
    }
  }

  /// Lends the bytes to `body`; the span cannot outlive the call.
  package func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe UnsafeRawBufferPointer(storage).bytes.extracting(first: count))
  }

  /// The bytes as text; `nil` if they are not UTF-8.
  var text: String? {
    unsafe String(validating: UnsafeRawBufferPointer(storage).prefix(count), as: UTF8.self)
  }
}
