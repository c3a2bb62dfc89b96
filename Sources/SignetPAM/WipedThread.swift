import Glibc

/// A thread for foreign code that leaves secrets on its stack.
///
/// The stack is memory of this program's own: kept out of swap where the system allows so much locked memory, and out of core dumps.
/// It is overwritten as a whole when the thread has ended, so that nothing depends on how deep the calls went.
package enum WipedThread {
  /// As much as modules and the loader need many times over.
  static let stackByteCount = 1 << 20

  /// Carries the work to the thread, and its end back.
  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Runs `body` on such a thread and waits for its end.
  ///
  /// - Parameter body: What to do; it must not end the thread itself.
  /// - Returns: Whether it was run; not where the system has no memory or no thread left.
  package static func run(_ body: () -> Void) -> Bool {
    let page = Int(getpagesize())
    let byteCount = page + stackByteCount
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK
    let mapping = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, Int32(flags), -1, 0)
    guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { return false }
    defer { unsafe munmap(mapping, byteCount) }
    // The page below the stack stays closed: a thread that runs over ends the process instead of writing elsewhere.
    guard unsafe mprotect(mapping, page, PROT_NONE) == 0 else { return false }
    let stack = unsafe mapping + page
    // Both may be refused, which costs no more than the protection.
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
