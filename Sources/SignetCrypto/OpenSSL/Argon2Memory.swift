#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory that Argon2id fills, in large pages where the system has them: of a first derivation a third of the time goes into asking
/// for thousands of small ones.
enum Argon2Memory {
  /// 2 MiB, on the processors that Swift runs on.
  private static let pageByteCount = 2 << 20

  /// Does what `allocate_fptr` asks for; the place stays empty where there is not so much memory.
  static func allocate(_ place: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int)
    -> Int32
  {
    // What is smaller, as in tests, would have a page cleared that it does not fill.
    let isLarge = byteCount >= pageByteCount
    let size = isLarge ? (byteCount + pageByteCount - 1) / pageByteCount * pageByteCount : byteCount
    var memory: UnsafeMutableRawPointer?
    let result = unsafe posix_memalign(&memory, isLarge ? pageByteCount : 64, size)
    guard result == 0, let memory = unsafe memory else { return result }
    #if os(Linux)
      // Advice: a system that does not take it gives small pages.
      if isLarge { _ = unsafe madvise(memory, size, Int32(MADV_HUGEPAGE)) }
    #endif
    unsafe place?.pointee = memory.assumingMemoryBound(to: UInt8.self)
    return 0
  }

  /// Gives back what ``allocate(_:_:)`` gave; Argon2 has wiped it.
  static func free(_ memory: UnsafeMutablePointer<UInt8>?) {
    #if canImport(Glibc)
      unsafe Glibc.free(memory)
    #else
      unsafe Darwin.free(memory)
    #endif
  }
}
