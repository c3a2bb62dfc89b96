#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What tasks tell the event loop's thread, behind a lock.
///
/// The lock is a POSIX mutex rather than `Mutex`: the thread sanitizer does not see into the slow path of `Mutex` on
/// Linux and reports races where threads queue for it, and this is where a real race would hide.
@safe final class Mailbox: @unchecked Sendable {  // all access to `content` goes through `withLock`
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var content = Content()

  /// What is in a mailbox.
  struct Content {
    var orders: [TransferOrder] = []
    var cancellations: [UInt64] = []
    var isStopping = false
    var hasThread = false
    /// Set while the thread may be waiting.
    var waker: MultiHandle.Waker?
    /// Why there will be no thread any more.
    var failure: TransportFailure?
    private var lastID: UInt64 = 0

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }

    /// Empties the mailbox.
    mutating func take() -> (orders: [TransferOrder], cancellations: [UInt64], isStopping: Bool) {
      defer { (orders, cancellations) = ([], []) }
      return (orders, cancellations, isStopping)
    }

    /// Closes the mailbox; what was in it is the caller's to answer.
    mutating func fail(_ failure: TransportFailure) -> [TransferOrder] {
      self.failure = failure
      return take().orders
    }
  }

  init() {
    unsafe lock = .allocate(capacity: 1)
    let code = unsafe pthread_mutex_init(lock, nil)
    precondition(code == 0, "pthread_mutex_init fails only where memory is exhausted")
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs `body` alone; it must not wait for anything.
  func withLock<R>(_ body: (inout Content) -> R) -> R {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body(&content)
  }
}
