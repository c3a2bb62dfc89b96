#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The messages from tasks to the event loop's thread, behind a lock.
///
/// The lock is a POSIX mutex, not `Mutex`: the thread sanitizer does not understand the slow path of `Mutex` on Linux and
/// reports false races under contention, which would hide real ones.
@safe final class Mailbox: @unchecked Sendable {  // all access to `content` goes through `withLock`
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var content = Content()

  struct Content {
    var orders: [TransferOrder] = []
    var cancellations: [UInt64] = []
    var isStopping = false
    var hasThread = false
    /// Set while the thread may be waiting.
    var waker: MultiHandle.Waker?
    /// The failure that ended the thread for good.
    var failure: TransportFailure?
    private var lastID: UInt64 = 0

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }

    mutating func drain() -> (orders: [TransferOrder], cancellations: [UInt64], isStopping: Bool) {
      defer { (orders, cancellations) = ([], []) }
      return (orders, cancellations, isStopping)
    }

    /// Closes the mailbox; the caller answers the returned orders.
    mutating func fail(_ failure: TransportFailure) -> [TransferOrder] {
      self.failure = failure
      return drain().orders
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

  /// Runs `body` under the lock; it must not block.
  func withLock<R>(_ body: (inout Content) -> R) -> R {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body(&content)
  }
}
