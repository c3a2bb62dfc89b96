#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The working memory of Argon2id, in large pages if the system supports them.
///
/// Requesting thousands of small pages takes a third of the time of a first derivation. The memory is returned to the system
/// each time.
enum Argon2Memory {
  /// The size of a large page, 2 MiB, for pages of 4 KiB.
  ///
  /// For a smaller request, as in tests, the system would clear a large page that is mostly unused.
  private static let largePage = 2 << 20

  /// Implements `allocate_fptr`; leaves the pointer unchanged and returns -1 if there is not enough memory.
  static func allocate(_ pointer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int)
    -> Int32
  {
    let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard unsafe memory != MAP_FAILED, let memory = unsafe memory else { return -1 }
    #if os(Linux)
      // A hint: a system that does not support it returns small pages.
      if byteCount >= largePage { _ = unsafe madvise(memory, byteCount, Int32(MADV_HUGEPAGE)) }
    #endif
    unsafe pointer?.pointee = memory.assumingMemoryBound(to: UInt8.self)
    return 0
  }

  /// Returns the memory of ``allocate(_:_:)`` to the system; Argon2 has wiped it.
  static func free(_ memory: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) {
    guard let memory = unsafe memory else { return }
    _ = unsafe munmap(memory, byteCount)
  }
}
