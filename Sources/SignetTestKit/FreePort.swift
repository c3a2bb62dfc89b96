import Foundation

/// Unused TCP ports on loopback, assigned one by one to all test processes of a user.
///
/// They are below the system's range for outgoing connections, so that no connection takes a port between its assignment and
/// its use. A port is reused only after all others have been assigned.
package enum FreePort {
  /// No port is free, or the file with the last port cannot be used or locked.
  package struct Failure: Error {
    /// The system's error; EPERM for a file that another user created.
    package let errno: Int32
  }

  /// Assigns the next unused port.
  ///
  /// - Throws: ``Failure``.
  package static func find() throws(Failure) -> UInt16 {
    // The path is the same for all processes, independent of their temporary folders.
    let counter = open("/tmp/signet-ports-\(geteuid())", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard counter >= 0 else { throw Failure(errno: errno) }
    defer { close(counter) }  // releases the lock
    // Other users can create a file of this name in /tmp, but not one with this user's ownership.
    var status = stat()
    guard fstat(counter, &status) == 0 else { throw Failure(errno: errno) }
    guard status.st_uid == geteuid(), status.st_mode & (S_IFMT | 0o077) == S_IFREG, status.st_nlink == 1
    else {
      throw Failure(errno: EPERM)
    }
    let deadline = ContinuousClock.now + .seconds(60)
    while flock(counter, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EINTR || errno == EWOULDBLOCK, ContinuousClock.now < deadline else {
        throw Failure(errno: errno)
      }
      usleep(1_000)
    }
    var last: UInt16 = 0
    _ = withUnsafeMutableBytes(of: &last) { pread(counter, $0.baseAddress, $0.count, 0) }
    for _ in ports {
      last = last &+ 1
      if !ports.contains(last) { last = ports.lowerBound }
      guard isFree(last) else { continue }
      let written = withUnsafeBytes(of: last) { pwrite(counter, $0.baseAddress, $0.count, 0) }
      guard written == MemoryLayout<UInt16>.size else { throw Failure(errno: errno) }
      return last
    }
    throw Failure(errno: EADDRINUSE)
  }

  /// The available ports: 16,384 below the range for outgoing connections (ip(7), `ip_local_port_range`).
  package static let ports: Range<UInt16> = {
    let text = FileManager.default.contents(atPath: "/proc/sys/net/ipv4/ip_local_port_range") ?? Data()
    let lowest = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
      .flatMap { UInt16($0) }
    // If that range leaves no room, use the ports below the usual range.
    let end = lowest.flatMap { $0 >= 20_000 ? $0 : nil } ?? 32_768
    return end - min(16_384, end - 10_000)..<end
  }()

  /// Returns true if no socket is bound to the port, on any address.
  package static func isFree(_ port: UInt16) -> Bool {
    #if canImport(Darwin)
      let stream = SOCK_STREAM
    #else
      let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
