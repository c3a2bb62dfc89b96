internal import CMicroHTTPD
internal import Glibc

/// A thread that serves its connections: one MHD daemon.
@safe final class PollingThread: @unchecked Sendable {
  private let daemon: OpaquePointer
  private let context: Unmanaged<ServerCore>
  private let refusals: UnsafeMutablePointer<signet_mhd_refusals>
  /// Wakes the thread when answers to its connections are ready.
  let wakeUps = WakeUps<ConnectionHandle> { $0.resume() }
  /// Its requests of which only the request line has arrived.
  let heads: UnreadHeads

  /// Starts the thread; the core is retained until ``stop()`` has returned.
  ///
  /// The corresponding C function is `MHD_start_daemon`.
  init(core: ServerCore, security: HTTPServerConfiguration.Security) throws(ServerFailure) {
    let context = unsafe Unmanaged.passRetained(core)
    let limits = core.limits
    let heads = UnreadHeads()
    self.heads = heads
    let refusals = UnsafeMutablePointer<signet_mhd_refusals>.allocate(capacity: 1)
    unsafe refusals.initialize(
      to: signet_mhd_refusals(
        refuses: refusalCallback,
        context: Unmanaged.passRetained(LibraryRefusals(core: core, heads: heads)).toOpaque()))
    var options = unsafe signet_mhd_options(
      context: context.toOpaque(), refusals: refusals, handle: handleCallback, target: targetCallback,
      completed: completedCallback, connection: connectionCallback,
      // The registry enforces the real limit; this one must only be higher.
      connection_limit: UInt32(limits.connectionCount) * 2 + 64,
      idle_seconds: UInt32(limits.idleTimeout.components.seconds),
      memory_limit: limits.headerByteCount + limits.requestLineByteCount + 8 * 1024,
      certificate: nil, private_key: nil, priorities: nil)
    let daemon: OpaquePointer? =
      switch security {
      case .insecurePlaintext: unsafe signet_mhd_start(&options)
      case .tls(let identity):
        unsafe identity.withPEM { certificate, privateKey in
          unsafe TLSIdentity.priorities.withCString { priorities in
            unsafe options.certificate = unsafe certificate
            unsafe options.private_key = unsafe privateKey
            unsafe options.priorities = unsafe priorities
            return unsafe signet_mhd_start(&options)
          }
        }
      }
    guard let daemon = unsafe daemon else {
      unsafe context.release()
      unsafe Self.free(refusals)
      throw .cannotStart
    }
    unsafe self.context = unsafe context
    unsafe self.refusals = unsafe refusals
    unsafe self.daemon = unsafe daemon
  }

  /// Hands over an accepted socket; MHD closes it in any case.
  ///
  /// The corresponding C function is `MHD_add_connection`.
  func adopt(_ descriptor: Int32, _ address: PeerAddress) -> Bool {
    unsafe address.withSocketAddress { pointer, length in
      unsafe MHD_add_connection(daemon, descriptor, pointer, length) == .YES
    }
  }

  /// Closes every connection and ends the thread; blocks meanwhile.
  ///
  /// No connection may be suspended, and no call may follow.
  ///
  /// The corresponding C function is `MHD_stop_daemon`.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    unsafe context.release()
    unsafe Self.free(refusals)
  }

  private static func free(_ refusals: UnsafeMutablePointer<signet_mhd_refusals>) {
    if let context = unsafe refusals.pointee.context {
      unsafe Unmanaged<LibraryRefusals>.fromOpaque(context).release()
    }
    unsafe refusals.deallocate()
  }
}

private final class LibraryRefusals: Sendable {
  let core: ServerCore
  let heads: UnreadHeads

  init(core: ServerCore, heads: UnreadHeads) { (self.core, self.heads) = (core, heads) }

  /// Answers instead of MHD if the request is known; otherwise the client gets MHD's own page.
  func refuses(status: Int) {
    if let handler = heads.refused {
      handler.refusedByLibrary()
    } else {
      core.observe(
        RefusedRequest(
          remoteAddress: nil, status: status, reason: "the head of the request is not valid HTTP/1.1"))
    }
  }
}

/// Called before MHD makes an answer of its own.
private let refusalCallback: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void = { context, status in
  guard let context = unsafe context else { return }
  unsafe Unmanaged<LibraryRefusals>.fromOpaque(context).takeUnretainedValue().refuses(status: Int(status))
}

private func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
}

/// Called when a connection begins and ends; the socket context retains the connection in between.
private let connectionCallback: MHD_NotifyConnectionCallback = { context, handle, socketContext, event in
  guard let core = unsafe core(context), let handle = unsafe handle,
    let socketContext = unsafe socketContext
  else { return }
  if signet_mhd_begins(event) != 0 {
    guard let connection = core.registry.connection(unsafe signet_mhd_socket(handle)) else { return }
    unsafe socketContext.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
    connection.opened(isDraining: { core.isDraining })
  } else if let retained = unsafe socketContext.pointee {
    unsafe socketContext.pointee = nil
    let connection = unsafe Unmanaged<Connection>.fromOpaque(retained).takeRetainedValue()
    connection.closed()
    core.registry.remove(connection)
  }
}

/// Called when the request line has arrived, before MHD splits the target; the result becomes `con_cls`.
private let targetCallback:
  @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? =
    { context, target, handle in
      guard let core = unsafe core(context), let target = unsafe target, let handle = unsafe handle,
        let socketContext = unsafe signet_mhd_socket_context(handle)
      else { return nil }
      let connection = unsafe Unmanaged<Connection>.fromOpaque(socketContext).takeUnretainedValue()
      let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
      let handler = unsafe RequestHandler(
        core: core, connection: connection, handle: ConnectionHandle(handle), target: Array(bytes))
      connection.heads.insert(handler)
      unsafe signet_mhd_skip_arguments(target)
      return unsafe Unmanaged.passRetained(handler).toOpaque()
    }

/// Called for the head, for each piece of the body, for the end of the request and after a resume.
private let handleCallback: MHD_AccessHandlerCallback = {
  _, _, target, method, version, data, byteCount, exchangeContext in
  guard let retained = unsafe exchangeContext?.pointee, let byteCount = unsafe byteCount else { return .NO }
  let handler = unsafe Unmanaged<RequestHandler>.fromOpaque(retained).takeUnretainedValue()
  let goesOn: Bool
  if let data = unsafe data, unsafe byteCount.pointee > 0 {
    goesOn = unsafe handler.bodyArrived(UnsafeRawBufferPointer(start: data, count: byteCount.pointee))
    unsafe byteCount.pointee = 0
  } else if handler.isNew {
    guard let target = unsafe target, let method = unsafe method, let version = unsafe version else {
      return .NO
    }
    goesOn = unsafe handler.headArrived(
      RequestHead.Line(method: method, target: target, version: version))
  } else {
    goesOn = handler.requestArrived()
  }
  return goesOn ? .YES : .NO
}

/// Called once for every request whose request line has arrived.
private let completedCallback: MHD_RequestCompletedCallback = { _, _, exchangeContext, _ in
  guard let exchangeContext = unsafe exchangeContext, let retained = unsafe exchangeContext.pointee else {
    return
  }
  unsafe exchangeContext.pointee = nil
  unsafe Unmanaged<RequestHandler>.fromOpaque(retained).takeRetainedValue().completed()
}
