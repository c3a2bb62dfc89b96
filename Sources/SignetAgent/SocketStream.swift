#if os(Linux)
  package import Glibc
  import SignetCrypto

  /// One end of a Unix socket connection, closed with its single owner.
  ///
  /// Calls block, at most until a deadline.
  package struct SocketStream: ~Copyable, Sendable {
    private let descriptor: Int32

    package enum Failure: Error, Hashable {
      /// The other side has closed the connection.
      case closed
      /// The deadline has passed.
      case timedOut
      /// Bytes came from another process than expected, or with another group than required.
      case otherSender
      /// The system's error.
      case system(errno: Int32)
    }

    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a socket in the file system; the kernel then reports the sender of all received bytes.
    package static func connecting(to path: String) throws(Failure) -> SocketStream {
      let newDescriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard newDescriptor >= 0 else { throw .system(errno: errno) }
      let stream = SocketStream(adopting: newDescriptor)
      try stream.demandSenders()
      let result = try unsafe withSocketAddress(path) { address, length in
        unsafe Glibc.connect(newDescriptor, address, length)
      }
      guard result == 0 else { throw .system(errno: errno) }
      return stream
    }

    /// Returns the process at the other end, as the kernel recorded it on connection; the group is the effective one.
    package func peer() throws(Failure) -> (process: pid_t, user: uid_t, group: gid_t) {
      var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
      var length = socklen_t(MemoryLayout<(pid_t, uid_t, gid_t)>.size)
      guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
        throw .system(errno: errno)
      }
      return (process: credentials.0, user: credentials.1, group: credentials.2)
    }

    /// Returns a pidfd of the process at the other end; the caller closes it.
    ///
    /// - Returns: `nil` if the system has none: before Linux 6.5.
    /// - Throws: `closed` if the process has ended.
    package func peerHandle() throws(Failure) -> Int32? {
      let option: Int32 = 77  // SO_PEERPIDFD
      var handle: Int32 = -1
      var length = socklen_t(MemoryLayout<Int32>.size)
      guard unsafe getsockopt(descriptor, SOL_SOCKET, option, &handle, &length) == 0 else {
        if errno == ENOPROTOOPT { return nil }
        throw .closed
      }
      return handle
    }

    /// Makes the kernel report the sender of all received bytes.
    func demandSenders() throws(Failure) {
      var on: Int32 = 1
      guard
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
      else { throw .system(errno: errno) }
    }

    /// Sends all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - group: A group of this process that the kernel reports to the other side; its real group if `nil`.
    ///   - deadline: The time-out.
    /// - Throws: ``Failure``.
    package func send(
      _ bytes: RawSpan, as group: gid_t? = nil, until deadline: ContinuousClock.Instant
    ) throws(Failure) {
      var offset = 0
      while offset < bytes.byteCount {
        try wait(POLLOUT, until: deadline)
        let count = unsafe bytes.extracting(droppingFirst: offset).withUnsafeBytes { rest in
          unsafe Self.send(rest, as: group, over: descriptor)
        }
        if count < 0 {
          if errno == EAGAIN || errno == EINTR { continue }
          throw errno == EPIPE || errno == ECONNRESET ? .closed : .system(errno: errno)
        }
        offset += count
      }
    }

    package func send(
      _ bytes: [UInt8], as group: gid_t? = nil, until deadline: ContinuousClock.Instant
    ) throws(Failure) {
      try send(unsafe bytes.span.bytes, as: group, until: deadline)
    }

    /// Receives `count` bytes; all must come from the process `sender` and with the group, if they are given.
    package func receive(
      _ count: Int, from sender: pid_t? = nil, as group: gid_t? = nil, until deadline: ContinuousClock.Instant
    ) throws(Failure) -> [UInt8] {
      var sender = sender
      return try receive(count, noting: &sender, as: group, until: deadline)
    }

    /// Receives `count` bytes; all must come from the process `sender`; if it is `nil`, it is set from the first bytes.
    func receive(
      _ count: Int, noting sender: inout pid_t?, as group: gid_t? = nil,
      until deadline: ContinuousClock.Instant
    ) throws(Failure) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var filled = 0
      while filled < count {
        var span = bytes.mutableSpan
        let expectedSender = sender
        let part = try unsafe span.withUnsafeMutableBytes { (buffer) throws(Failure) in
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
          return try unsafe receive(into: rest, from: expectedSender, as: group, until: deadline)
        }
        filled += part.count
        sender = expectedSender ?? part.sender
      }
      return bytes
    }

    /// Receives a secret of `count` bytes into its own memory, so that this process has no second copy.
    func receiveSecret(
      _ count: Int, from sender: pid_t? = nil, until deadline: ContinuousClock.Instant
    ) throws(Failure) -> SecretBytes {
      try SecretBytes(byteCount: count) { (output) throws(Failure) in
        while output.freeCapacity > 0 {
          try unsafe output.withUnsafeMutableBytes { (buffer, initialized) throws(Failure) in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[initialized...])
            initialized += try unsafe receive(into: rest, from: sender, until: deadline).count
          }
        }
      }
    }

    /// True if the other side has closed the connection and cannot get an answer.
    var isHungUp: Bool {
      var request = pollfd(fd: descriptor, events: 0, revents: 0)
      return unsafe poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP) != 0
    }

    /// The descriptor, for another thread that ends the connection.
    var number: Int32 { descriptor }

    /// Gives up ownership of the socket; the caller closes it.
    package consuming func release() -> Int32 {
      let descriptor = descriptor
      discard self
      return descriptor
    }

    private func receive(
      into buffer: UnsafeMutableRawBufferPointer, from sender: pid_t?, as group: gid_t? = nil,
      until deadline: ContinuousClock.Instant
    ) throws(Failure) -> (count: Int, sender: pid_t?) {
      while true {
        try wait(POLLIN, until: deadline)
        var part = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
        // Room for one credentials message: 16 bytes of header (cmsghdr), then process, user and group.
        var control: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
          0, 0, 0, 0, 0, 0, 0, 0
        )
        let (count, origin) = unsafe withUnsafeMutableBytes(of: &control) { control in
          unsafe withUnsafeMutablePointer(to: &part) { part in
            var message = unsafe msghdr()
            unsafe message.msg_iov = part
            unsafe message.msg_iovlen = 1
            unsafe message.msg_control = control.baseAddress
            unsafe message.msg_controllen = control.count
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC)
            let count = unsafe recvmsg(descriptor, &message, flags)
            return unsafe (count, Self.origin(UnsafeRawBufferPointer(control), message.msg_controllen))
          }
        }
        if count < 0 {
          if errno == EAGAIN || errno == EINTR { continue }
          throw errno == ECONNRESET ? .closed : .system(errno: errno)
        }
        guard count > 0 else { throw .closed }
        guard sender == nil || origin?.process == sender, group == nil || origin?.group == group else {
          throw .otherSender
        }
        return (count, origin?.process)
      }
    }

    /// Sends as much as possible without blocking; result and `errno` are those of send(2).
    private static func send(_ bytes: UnsafeRawBufferPointer, as group: gid_t?, over descriptor: Int32) -> Int
    {
      let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
      guard let group else { return unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) }
      var part = unsafe iovec(
        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
      // One credentials message: 16 bytes of header (cmsghdr), then process, user and group, and 4 bytes of padding.
      var control: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
      return unsafe withUnsafeMutableBytes(of: &control) { control in
        unsafe control.storeBytes(of: 28, as: Int.self)
        unsafe control.storeBytes(of: Int32(SOL_SOCKET), toByteOffset: 8, as: Int32.self)
        unsafe control.storeBytes(of: credentials, toByteOffset: 12, as: Int32.self)
        unsafe control.storeBytes(of: getpid(), toByteOffset: 16, as: pid_t.self)
        unsafe control.storeBytes(of: getuid(), toByteOffset: 20, as: uid_t.self)
        unsafe control.storeBytes(of: group, toByteOffset: 24, as: gid_t.self)
        return unsafe withUnsafeMutablePointer(to: &part) { part in
          var message = unsafe msghdr()
          unsafe message.msg_iov = part
          unsafe message.msg_iovlen = 1
          unsafe message.msg_control = control.baseAddress
          unsafe message.msg_controllen = control.count
          return unsafe sendmsg(descriptor, &message, flags)
        }
      }
    }

    private static let credentials: Int32 = 2  // SCM_CREDENTIALS

    /// Returns the process and the group in a credentials message; `nil` if the first message is another one.
    ///
    /// Descriptors that a sender attaches are closed by the kernel, because there is no room for them.
    private static func origin(
      _ control: UnsafeRawBufferPointer, _ length: Int
    ) -> (process: pid_t, group: gid_t)? {
      guard length >= 28, unsafe control.load(as: Int.self) == 28,
        unsafe control.load(fromByteOffset: 8, as: Int32.self) == SOL_SOCKET,
        unsafe control.load(fromByteOffset: 12, as: Int32.self) == credentials
      else { return nil }
      return unsafe (
        control.load(fromByteOffset: 16, as: pid_t.self), control.load(fromByteOffset: 24, as: gid_t.self)
      )
    }

    private func wait(_ events: Int32, until deadline: ContinuousClock.Instant) throws(Failure) {
      while true {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timedOut }
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        let milliseconds = Int32(
          clamping: left / .milliseconds(1) > 1e9 ? 1_000_000_000 : Int(left / .milliseconds(1)) + 1)
        let result = unsafe poll(&request, 1, milliseconds)
        if result > 0 { return }
        if result < 0 && errno != EINTR { throw .system(errno: errno) }
      }
    }
  }

  /// Lends the address of a socket in the file system.
  func withSocketAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(SocketStream.Failure) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
      throw .system(errno: ENAMETOOLONG)
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
#endif
