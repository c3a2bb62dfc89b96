/// The address, the certificate and the limits of a server.
package struct HTTPServerConfiguration: Sendable {
  /// The protection of bytes on the wire.
  package enum Security: Sendable {
    /// TLS 1.2 or 1.3, forward-secret AEAD suites only.
    case tls(TLSIdentity)
    /// No protection; only for tests and behind a reverse proxy, and only on a loopback address.
    case insecurePlaintext
  }

  /// A numeric IPv4 or IPv6 address; `::` serves both.
  package var address: String
  /// The TCP port; if it is 0, the system chooses one, which ``HTTPServer/start()`` returns.
  package var port: UInt16
  /// TLS, or `insecurePlaintext`.
  package var security: Security
  /// The limits for clients.
  package var limits: ServerLimits
  /// The number of polling threads; connections are distributed over them.
  package var threadCount: Int
  /// Makes the responses to requests that no handler sees.
  package var refusalResponder: RefusalResponder
  /// Called for each answer to a request that a handler has seen, when it is sent; runs on a polling thread.
  package var observer: (@Sendable (AnsweredRequest) -> Void)?
  /// Called for each request that the server refuses before a handler sees it.
  ///
  /// It runs on a thread of the server and must not block.
  package var refusalObserver: (@Sendable (RefusedRequest) -> Void)?

  /// Creates a configuration; only `security` has no default.
  ///
  /// The default `threadCount` is one for each 512 connections that `limits` allow, from 2 to 64. A thread polls all of its
  /// connections except those whose request a handler processes.
  package init(
    address: String = "127.0.0.1", port: UInt16 = 0, security: Security,
    limits: ServerLimits = ServerLimits(), threadCount: Int? = nil,
    refusalResponder: @escaping RefusalResponder = { $0.plainResponse }
  ) {
    self.address = address
    self.port = port
    self.security = security
    self.limits = limits
    self.threadCount = threadCount ?? min(max(limits.connectionCount / 512, 2), 64)
    self.refusalResponder = refusalResponder
  }
}

/// A request that a handler has seen, and the status of its answer.
package struct AnsweredRequest: Sendable, Hashable {
  /// The method.
  package let method: String
  /// The path as it was sent, without the query.
  package let path: String
  /// The pattern of the route that ``Router`` found; `nil` if there was none.
  package let pattern: String?
  /// The client's numeric address.
  package let remoteAddress: String
  /// The status of the answer.
  package let status: Int

  package init(method: String, path: String, pattern: String?, remoteAddress: String, status: Int) {
    self.method = method
    self.path = path
    self.pattern = pattern
    self.remoteAddress = remoteAddress
    self.status = status
  }
}

/// A request, or a connection, that the server refused before a handler saw it.
package struct RefusedRequest: Sendable, Hashable {
  /// The client's numeric address.
  ///
  /// It is `nil` if libmicrohttpd refused the request before the end of its head: it does not report the address.
  package let remoteAddress: String?
  /// The status of the answer; `nil` if the connection was closed without one.
  package let status: Int?
  /// The reason; it contains no data from the client.
  package let reason: String

  package init(remoteAddress: String?, status: Int?, reason: String) {
    self.remoteAddress = remoteAddress
    self.status = status
    self.reason = reason
  }
}

/// The limits for clients.
///
/// Deadlines are enforced within a quarter of a second.
package struct ServerLimits: Sendable, Hashable {
  /// The maximum body size in bytes; a larger body gets 413.
  package var bodyByteCount = 64 * 1024
  /// The maximum size of the header section in bytes; a larger one, or more than ``headerCount`` fields, gets 431.
  package var headerByteCount = 8 * 1024
  /// The maximum number of header fields.
  package var headerCount = 100
  /// The maximum length of the request line in bytes; a longer one gets 414.
  package var requestLineByteCount = 4 * 1024
  /// The maximum number of connections; of those above it, ``refusedConnectionCount`` get 503, and all others are closed at once.
  package var connectionCount = 1024
  /// The maximum number of connections from one IPv4 address or one IPv6 /64 network, which one host can fill.
  package var connectionCountPerAddress = 64
  /// The maximum number of connections above the limits whose first request gets 503.
  package var refusedConnectionCount = 64
  /// The maximum number of these from one address or network.
  package var refusedConnectionCountPerAddress = 4
  /// The time without a byte in either direction after which a connection is closed; whole seconds, at least 1.
  package var idleTimeout: Duration = .seconds(15)
  /// The time from the start of a connection, or from the end of the previous response, to the last byte of a request.
  ///
  /// It includes the TLS handshake and does not restart when bytes arrive.
  package var requestDeadline: Duration = .seconds(60)
  /// The maximum time for a handler; afterwards its task is cancelled and the client gets 503.
  package var handlerDeadline: Duration = .seconds(60)
  /// The maximum time for a client to read a response.
  package var responseDeadline: Duration = .seconds(60)

  /// Creates the default limits.
  package init() {}
}

extension HTTPServerConfiguration {
  /// Rejects values that would stop the server from serving, or that the library cannot hold.
  func checkRanges() throws(ServerFailure) {
    let counts: [(String, Int, ClosedRange<Int>)] = [
      ("threadCount", threadCount, 1...64),
      ("bodyByteCount", limits.bodyByteCount, 0...(1 << 30)),
      ("headerByteCount", limits.headerByteCount, 256...(1 << 20)),
      ("headerCount", limits.headerCount, 1...10_000),
      ("requestLineByteCount", limits.requestLineByteCount, 16...(1 << 20)),
      ("connectionCount", limits.connectionCount, 1...1_000_000),
      ("connectionCountPerAddress", limits.connectionCountPerAddress, 1...1_000_000),
      ("refusedConnectionCount", limits.refusedConnectionCount, 0...10_000),
      ("refusedConnectionCountPerAddress", limits.refusedConnectionCountPerAddress, 0...10_000),
    ]
    for (name, value, range) in counts where !range.contains(value) { throw .limitOutOfRange(name) }
    guard (1...86_400).contains(limits.idleTimeout.components.seconds) else {
      throw .limitOutOfRange("idleTimeout")
    }
    let deadlines = [
      ("requestDeadline", limits.requestDeadline), ("handlerDeadline", limits.handlerDeadline),
      ("responseDeadline", limits.responseDeadline),
    ]
    for (name, value) in deadlines where value <= .zero || value > .seconds(86_400) {
      throw .limitOutOfRange(name)
    }
  }
}
