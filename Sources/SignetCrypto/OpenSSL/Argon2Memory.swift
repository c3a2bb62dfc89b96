#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory that Argon2id fills, in large pages where the system has them.
///
/// Of a first derivation a third of the time goes into asking for thousands of small ones. It goes back to the system after each.
enum Argon2Memory {
  /// 2 MiB, where pages have 4 KiB.
  ///
  /// What is smaller, as in tests, would have a page cleared that it does not fill.
  private static let largePage = 2 << 20

  /// Does what `allocate_fptr` asks for; the place stays empty where there is not so much memory.
  static func allocate(_ place: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int)
    -> Int32
  {
    let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard unsafe memory != MAP_FAILED, let memory = unsafe memory else { return -1 }
    #if os(Linux)
      // Advice: a system that does not take it gives small pages.
      if byteCount >= largePage { _ = unsafe madvise(memory, byteCount, Int32(MADV_HUGEPAGE)) }
    #endif
    unsafe place?.pointee = memory.assumingMemoryBound(to: UInt8.self)
    return 0
  }

  /// Gives back what ``allocate(_:_:)`` gave; Argon2 has wiped it.
  static func free(_ memory: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) {
    guard let memory = unsafe memory else { return }
    _ = unsafe munmap(memory, byteCount)
  }
}
