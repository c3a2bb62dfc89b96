#if os(Linux)
  import CTPM2
  import Glibc
  import SignetSystem
  import SignetVault

  /// A link to a TPM over a file descriptor: a character device or the socket of a swtpm.
  final class DescriptorLink: TPMLink {
    private let descriptor: Int32
    private let address: TPMAddress
    private let limits: TPMTimeLimits
    private var hasResponse = false

    /// Opens a link; waits if another program has exclusive use of the TPM.
    init(_ address: TPMAddress, _ limits: TPMTimeLimits) throws(KeystoreFailure) {
      (self.address, self.limits) = (address, limits)
      let deadline = ContinuousClock.now + limits.access
      descriptor =
        switch address {
        case .device(let path): try Self.openDevice(path, address, deadline)
        case .swtpm(let host, let port):
          try Self.connect(SocketAddress(host: host, port: port), address, deadline)
        case .swtpmSocket(let path): try Self.connect(SocketAddress(path: path), address, deadline)
        }
    }

    deinit { close(descriptor) }

    func send(_ command: [UInt8]) throws(KeystoreFailure) {
      let deadline = ContinuousClock.now + limits.answer
      var sent = 0
      while sent < command.count {
        try wait(Int16(POLLOUT), deadline)
        let count = unsafe command.withUnsafeBytes { bytes in
          retrying { () -> Int in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
            // A socket with a closed peer would raise SIGPIPE; a device accepts no flags.
            if case .device = address { return unsafe write(descriptor, rest.baseAddress, rest.count) }
            return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
          }
        }
        if count < 0, errno == EAGAIN { continue }
        guard count > 0 else { throw errno == EBUSY ? .busy : .disconnected }
        sent += count
      }
    }

    func receive() throws(KeystoreFailure) -> [UInt8] {
      // The first response may be delayed until swtpm has finished serving another program.
      let limit = hasResponse ? limits.answer : max(limits.access, .zero)
      let deadline = ContinuousClock.now + limit
      var response: [UInt8] = []
      var expectedByteCount: Int?
      while response.count < expectedByteCount ?? TPMFrame.headerByteCount {
        do throws(KeystoreFailure) { try wait(Int16(POLLIN), deadline) } catch .noAnswer where !hasResponse {
          throw .busy
        }
        // A device returns a response in one read only, so the read asks for the maximum size.
        var buffer = [UInt8](repeating: 0, count: TPMFrame.largestByteCount)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
          retrying { unsafe read(descriptor, bytes.baseAddress, bytes.count) }
        }
        if count < 0, errno == EAGAIN { continue }
        guard count > 0 else { throw .disconnected }
        response += buffer[..<count]
        if expectedByteCount == nil, response.count >= TPMFrame.headerByteCount {
          guard let size = TPMFrame.byteCount(ofAnswer: response) else { throw .disconnected }
          expectedByteCount = size
        }
      }
      guard response.count == expectedByteCount else { throw .disconnected }
      hasResponse = true
      return response
    }

    private func wait(_ events: Int16, _ deadline: ContinuousClock.Instant) throws(KeystoreFailure) {
      guard try Self.isReady(descriptor, events, deadline) else { throw .noAnswer }
    }

    /// Waits until the descriptor is ready; returns false at the deadline.
    private static func isReady(
      _ descriptor: Int32, _ events: Int16, _ deadline: ContinuousClock.Instant
    ) throws(KeystoreFailure) -> Bool {
      while true {
        let remaining = ContinuousClock.now.duration(to: deadline)
        let milliseconds =
          remaining.components.seconds * 1000 + remaining.components.attoseconds / 1_000_000_000_000_000
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        let count = unsafe poll(
          &entry, 1, Int32(clamping: max(0, milliseconds + (remaining > .zero ? 1 : 0))))
        if count > 0 { return true }
        if count == 0 { return false }
        guard errno == EINTR else { throw .disconnected }
      }
    }

    private static func openDevice(
      _ path: String, _ address: TPMAddress, _ deadline: ContinuousClock.Instant
    ) throws(KeystoreFailure) -> Int32 {
      while true {
        let descriptor = retrying { unsafe open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        if descriptor >= 0 { return descriptor }
        switch errno {
        case EBUSY:
          // The kernel cannot wait for a device that only one program may open, so this polls.
          guard ContinuousClock.now < deadline else { throw .busy }
          usleep(20_000)
        case EACCES, EPERM: throw .forbidden(address: address.description)
        default: throw .missing(address: address.description)
        }
      }
    }

    private static func connect(
      _ peer: SocketAddress?, _ address: TPMAddress, _ deadline: ContinuousClock.Instant
    ) throws(KeystoreFailure) -> Int32 {
      guard let peer else { throw .invalidAddress(address.description) }
      let descriptor = socket(
        peer.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw .missing(address: address.description) }
      do throws(KeystoreFailure) {
        while true {
          let result = unsafe peer.withPointer { pointer, size in
            retrying { unsafe Glibc.connect(descriptor, pointer, size) }
          }
          if result == 0 { return descriptor }
          switch errno {
          case EAGAIN where peer.family == AF_UNIX:
            // The socket's backlog is full, and poll does not wait for it.
            guard ContinuousClock.now < deadline else { throw .busy }
            usleep(20_000)
          case EINPROGRESS, EALREADY:
            guard try isReady(descriptor, Int16(POLLOUT), deadline) else { throw .busy }
            var error: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 else {
              throw .missing(address: address.description)
            }
            return descriptor
          case EACCES, EPERM: throw .forbidden(address: address.description)
          default: throw .missing(address: address.description)
          }
        }
      } catch {
        close(descriptor)
        throw error
      }
    }
  }
#endif
