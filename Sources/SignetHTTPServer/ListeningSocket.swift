internal import CMicroHTTPD
internal import Dispatch
internal import Glibc

@safe struct BindAddress: Sendable {
  fileprivate let storage: sockaddr_storage
  fileprivate let length: socklen_t
  /// True if only this machine can reach it.
  let isLoopback: Bool

  init(_ text: String, port: UInt16) throws(ServerFailure) {
    var storage = sockaddr_storage()
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    if unsafe inet_pton(AF_INET, text, &v4.sin_addr) == 1 {
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      isLoopback = UInt32(bigEndian: v4.sin_addr.s_addr) >> 24 == 127
    } else if unsafe inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 {
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
      length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let bytes = unsafe withUnsafeBytes(of: v6.sin6_addr) { unsafe Array($0) }
      isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    } else {
      throw .invalidAddress(text)
    }
    self.storage = storage
  }
}

/// A bound TCP socket that passes on accepted connections, without a thread of its own.
@safe final class ListeningSocket: Sendable {
  /// The port; the system chooses it if 0 was requested.
  let port: UInt16
  private let queue = DispatchQueue(label: "signet.http.accept")
  nonisolated(unsafe) private let source: any DispatchSourceRead

  /// Binds, listens, and calls `accepted` for each new connection; the callee owns its descriptor.
  init(
    _ address: BindAddress, accepted: @escaping @Sendable (Int32, PeerAddress) -> Void
  ) throws(ServerFailure) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(Int32(address.storage.ss_family), kind, 0)
    guard descriptor >= 0 else { throw .cannotListen(call: "socket", errno: errno) }
    do throws(ServerFailure) {
      try Self.bind(descriptor, address)
      port = try Self.port(of: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
    unsafe source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let loop = AcceptLoop(descriptor: descriptor, accepted: accepted)
    unsafe source.setEventHandler { loop.acceptWaiting() }
    unsafe source.resume()
  }

  /// Stops accepting; when it returns, the port is closed and `accepted` is not called again.
  func stop() async {
    await withCheckedContinuation { continuation in
      unsafe source.setCancelHandler { [descriptor = Int32(source.handle)] in
        close(descriptor)
        continuation.resume()
      }
      unsafe source.cancel()
    }
  }

  private static func bind(_ descriptor: Int32, _ address: BindAddress) throws(ServerFailure) {
    var enabled: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, size) == 0 else {
      throw .cannotListen(call: "setsockopt", errno: errno)
    }
    let code = unsafe withUnsafePointer(to: address.storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.bind(descriptor, $0, address.length)
      }
    }
    guard code == 0 else { throw .cannotListen(call: "bind", errno: errno) }
    guard listen(descriptor, SOMAXCONN) == 0 else { throw .cannotListen(call: "listen", errno: errno) }
  }

  private static func port(of descriptor: Int32) throws(ServerFailure) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    guard code == 0 else { throw .cannotListen(call: "getsockname", errno: errno) }
    // The port has the same offset in both families (RFC 3493 section 3.3).
    return unsafe withUnsafeBytes(of: storage) { raw in
      UInt16(bigEndian: unsafe raw.load(fromByteOffset: 2, as: UInt16.self))
    }
  }
}

/// Accepts connections; used only on the socket's queue.
private final class AcceptLoop: @unchecked Sendable {
  private let descriptor: Int32
  private let accepted: @Sendable (Int32, PeerAddress) -> Void
  /// Reserved, so that one descriptor is left to accept and close a client when all others are in use.
  ///
  /// A connection that stays in the backlog would wake the queue for ever.
  private var spare = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)

  init(descriptor: Int32, accepted: @escaping @Sendable (Int32, PeerAddress) -> Void) {
    self.descriptor = descriptor
    self.accepted = accepted
  }

  deinit { if spare >= 0 { close(spare) } }

  func acceptWaiting() {
    while true {
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let client = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe signet_accept(descriptor, $0, &length)
        }
      }
      if client >= 0 {
        accepted(client, PeerAddress(storage, length: length))
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE: guard closeWaiting() else { return }
      default: return
      }
    }
  }

  /// Accepts and closes one connection with the spare descriptor.
  private func closeWaiting() -> Bool {
    guard spare >= 0 else { return false }
    close(spare)
    let client = accept(descriptor, nil, nil)
    if client >= 0 { close(client) }
    spare = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    return client >= 0
  }
}
