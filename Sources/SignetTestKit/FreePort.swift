import Foundation

/// TCP ports on loopback that nobody listens on, handed out one by one to all test processes of a user.
///
/// They are below the range that the system takes ports for outgoing connections from, so that no connection takes one
/// between its choice and its use; and no two processes get the same one until all have had their turn.
package enum FreePort {
  /// There is no free port, or the file of the last one is not ours or is held by somebody.
  package struct Failure: Error {
    /// What the system said; EPERM for a file that another user has made.
    package let errno: Int32
  }

  /// Takes the next port that nobody listens on.
  ///
  /// - Throws: ``Failure``.
  package static func find() throws(Failure) -> UInt16 {
    // The same for all processes, wherever each has its temporary files.
    let counter = open("/tmp/signet-ports-\(geteuid())", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard counter >= 0 else { throw Failure(errno: errno) }
    defer { close(counter) }  // lets the lock go
    // Others can make a file of that name in /tmp, but none that is this user's alone.
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

  /// The ports that can be had: 16,384 below those of outgoing connections (ip(7), `ip_local_port_range`).
  package static let ports: Range<UInt16> = {
    let text = FileManager.default.contents(atPath: "/proc/sys/net/ipv4/ip_local_port_range") ?? Data()
    let lowest = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
      .flatMap { UInt16($0) }
    // Where that range leaves no room, nothing is better than the usual place.
    let end = lowest.flatMap { $0 >= 20_000 ? $0 : nil } ?? 32_768
    return end - min(16_384, end - 10_000)..<end
  }()

  /// Whether nobody has a port, on any address.
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
