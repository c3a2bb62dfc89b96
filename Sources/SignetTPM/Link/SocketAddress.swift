#if os(Linux)
  import Glibc

  /// A socket's destination; host names are not resolved, because that could block without a time-out.
  struct SocketAddress {
    private var storage = sockaddr_storage()
    private let byteCount: Int

    /// Parses an IP address or `localhost`; returns `nil` for other texts.
    init?(host: String, port: UInt16) {
      let text = host == "localhost" ? "127.0.0.1" : host
      var four = sockaddr_in()
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      if unsafe inet_pton(AF_INET, text, &four.sin_addr) == 1 {
        byteCount = MemoryLayout<sockaddr_in>.size
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: four, as: sockaddr_in.self) }
      } else if unsafe inet_pton(AF_INET6, text, &six.sin6_addr) == 1 {
        byteCount = MemoryLayout<sockaddr_in6>.size
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: six, as: sockaddr_in6.self) }
      } else {
        return nil
      }
    }

    /// A Unix socket; `nil` if the path is too long.
    init?(path: String) {
      var local = sockaddr_un()
      local.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard bytes.count < MemoryLayout.size(ofValue: local.sun_path) else { return nil }
      unsafe withUnsafeMutableBytes(of: &local.sun_path) { unsafe $0.copyBytes(from: bytes) }
      byteCount = MemoryLayout<sockaddr_un>.size
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: local, as: sockaddr_un.self) }
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// Lends the address to a C function.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
      unsafe withUnsafeBytes(of: storage) { bytes in
        // A sockaddr_storage is large enough and aligned for every address.
        guard let base = bytes.baseAddress else { preconditionFailure("an address has bytes") }
        return unsafe body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(byteCount))
      }
    }
  }
#endif
