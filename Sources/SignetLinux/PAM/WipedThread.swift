import Glibc

/// A thread for foreign code that leaves secrets on its stack.
///
/// This program allocates the stack. It is excluded from core dumps, and from swap if the system allows that much locked
/// memory. The whole stack is wiped after the thread has ended, so the depth of the calls does not matter.
package enum WipedThread {
  /// Many times the size that modules and the loader need.
  static let stackByteCount = 1 << 20

  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Runs `body` on such a thread and waits for its end.
  ///
  /// - Parameter body: The work; it must not end the thread itself.
  /// - Returns: False if the system cannot create the thread, for example for lack of memory.
  package static func run(_ body: () -> Void) -> Bool {
    let page = Int(getpagesize())
    let byteCount = page + stackByteCount
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK
    let mapping = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, Int32(flags), -1, 0)
    guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { return false }
    defer { unsafe munmap(mapping, byteCount) }
    // A guard page below the stack: an overflow ends the process instead of overwriting other memory.
    guard unsafe mprotect(mapping, page, PROT_NONE) == 0 else { return false }
    let stack = unsafe mapping + page
    // Both calls may fail; then only this protection is missing.
    _ = unsafe mlock(stack, stackByteCount)
    _ = unsafe madvise(stack, stackByteCount, MADV_DONTDUMP)
    defer { unsafe explicit_bzero(stack, stackByteCount) }

    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { unsafe attributes.deallocate() }
    guard unsafe pthread_attr_init(attributes) == 0 else { return false }
    defer { _ = unsafe pthread_attr_destroy(attributes) }
    guard unsafe pthread_attr_setstack(attributes, stack, stackByteCount) == 0 else { return false }
    return withoutActuallyEscaping(body) { body in
      let work = unsafe Unmanaged.passRetained(Work(body))
      defer { unsafe work.release() }
      var thread = pthread_t()
      let code = unsafe pthread_create(
        &thread, attributes,
        { argument in
          guard let argument = unsafe argument else { return nil }
          unsafe Unmanaged<Work>.fromOpaque(argument).takeUnretainedValue().body()
          return nil
        }, work.toOpaque())
      guard code == 0 else { return false }
      let joined = pthread_join(thread, nil)
      precondition(joined == 0, "a thread that was made here and joined by nobody else can be joined")
      return true
    }
  }
}
