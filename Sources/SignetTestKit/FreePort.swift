#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A TCP port on loopback that nobody listens on.
package enum FreePort {
  /// There is no free port, or no network.
  package struct Failure: Error {
    /// What the system said.
    package let errno: Int32
  }

  /// Finds a port by binding to port 0 and letting go again.
  ///
  /// - Returns: The port; nothing keeps others from taking it meanwhile.
  /// - Throws: ``Failure``.
  package static func find() throws(Failure) -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bare in
        bind(descriptor, bare, size) == 0 && getsockname(descriptor, bare, &size) == 0
      }
    }
    guard result else { throw Failure(errno: errno) }
    return UInt16(bigEndian: address.sin_port)
  }
}
