#if os(Linux)
  import Glibc
  import Signet
  import Synchronization

  /// The connections of apps that wait for a lock.
  final class Watchers: Sendable {
    private let waiting = Mutex<[AppGroup: [Int32]]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    deinit {
      waiting.withLock { waiting in
        for descriptor in waiting.values.joined() { close(descriptor) }
        waiting = [:]
      }
    }

    /// Adds a connection; closes it at once if the limit is reached.
    func add(_ group: AppGroup, _ stream: consuming SocketStream) {
      let descriptor = stream.release()
      waiting.withLock { waiting in
        for name in waiting.keys { waiting[name]?.removeAll(where: Self.isGone) }
        guard waiting.values.reduce(0, { $0 + $1.count }) < limit else {
          close(descriptor)
          return
        }
        waiting[group, default: []].append(descriptor)
      }
    }

    /// Reports the group's lock to its watchers and closes their connections.
    func notify(_ group: AppGroup, _ reason: LockReason) {
      let descriptors = waiting.withLock { waiting in waiting.removeValue(forKey: group) ?? [] }
      for descriptor in descriptors {
        let stream = SocketStream(adopting: descriptor)
        do throws(SocketStream.Failure) {
          // The socket's buffer is empty after the app's last answer, so this does not block.
          try stream.send(.state(.locked(reason)), nil, until: .now + .milliseconds(100))
        } catch {}  // the app has closed the connection
      }
    }

    /// Closes a connection that the app has closed or sent unexpected bytes over; returns true if it did.
    private static func isGone(_ descriptor: Int32) -> Bool {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&request, 1, 0) > 0 else { return false }
      close(descriptor)
      return true
    }
  }

  /// A pipe that ends the wait of another thread.
  final class StopPipe: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
      var ends: (Int32, Int32) = (-1, -1)
      let result = unsafe withUnsafeMutableBytes(of: &ends) {
        unsafe pipe($0.baseAddress?.assumingMemoryBound(to: Int32.self))
      }
      precondition(result == 0, "a process that serves has descriptors left at its start")
      for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      self.ends = ends
    }

    deinit {
      close(ends.read)
      close(ends.write)
    }

    func pull() {
      var byte: UInt8 = 0
      _ = unsafe write(ends.write, &byte, 1)
    }

    /// Waits until a descriptor is readable.
    ///
    /// - Returns: False if the wait was ended with ``pull()``.
    @discardableResult func waits(for descriptor: Int32?, milliseconds: Int32 = -1) -> Bool {
      var requests = [pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)]
      if let descriptor { requests.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
      var result: Int32
      repeat {
        result = unsafe poll(&requests, nfds_t(requests.count), milliseconds)
      } while result < 0 && errno == EINTR
      return requests[0].revents == 0
    }
  }
#endif
