import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of one line, of fixed capacity, wiped when they are no longer needed.
///
/// A class, so that the thread that reads and the task that waits can share it. The task touches it only before
/// the reading begins and after it has ended; the lock around the length orders the bytes between the two.
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

  /// The bytes that were added.
  package var count: Int { length.withLock { $0 } }

  /// Adds a byte; false if there is no room.
  package func append(_ byte: UInt8) -> Bool {
    length.withLock { length in
      guard length < capacity else { return false }
      unsafe storage[length] = byte
      length += 1
      return true
    }
  }

  /// Takes the last character away: a byte of ASCII, or all bytes of one beyond it in UTF-8.
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

  /// Overwrites everything, in a way that the compiler may not leave out, and is empty then.
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

  /// The bytes as text, or nil if they are not UTF-8.
  var text: String? {
    unsafe String(validating: UnsafeRawBufferPointer(storage).prefix(count), as: UTF8.self)
  }
}
