/// Where a server listens and what it allows.
public struct HTTPServerConfiguration: Sendable {
  /// How bytes are protected on the wire.
  public enum Security: Sendable {
    /// TLS 1.2 or 1.3, forward-secret AEAD suites only.
    case tls(TLSIdentity)
    /// No protection; only for tests and behind a reverse proxy, and only on a loopback address.
    case insecurePlaintext
  }

  /// A numeric IPv4 or IPv6 address; `::` serves both.
  public var address: String
  /// The TCP port; 0 lets the system choose one, which ``HTTPServer/start()`` returns.
  public var port: UInt16
  /// TLS, or `insecurePlaintext`.
  public var security: Security
  /// The bounds on what clients may use.
  public var limits: ServerLimits
  /// Polling threads; connections are spread over them.
  public var threadCount: Int
  /// Makes the responses to requests that no handler sees.
  public var refusalResponder: RefusalResponder
  /// Hears of each answer to a request that a handler has seen, as it is sent; called on a polling thread.
  public var observer: (@Sendable (AnsweredRequest) -> Void)?
  /// Hears of each request that the server refuses before a handler sees it; called on a thread of the server, which it must not block.
  public var refusalObserver: (@Sendable (RefusedRequest) -> Void)?

  /// A configuration; only `security` has no default.
  ///
  /// Where no `threadCount` is given it is one for each 512 connections that `limits` allow, from 2 to 64: a thread looks at all of its
  /// connections before it waits, but for those whose request a handler has.
  public init(
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
public struct AnsweredRequest: Sendable, Hashable {
  /// The method.
  public let method: String
  /// The path as it was sent, without the query.
  public let path: String
  /// The pattern of the route that ``Router`` has found; `nil` where there was none.
  public let pattern: String?
  /// The numeric address that it came from.
  public let remoteAddress: String
  /// The status of the answer.
  public let status: Int

  package init(method: String, path: String, pattern: String?, remoteAddress: String, status: Int) {
    self.method = method
    self.path = path
    self.pattern = pattern
    self.remoteAddress = remoteAddress
    self.status = status
  }
}

/// A request, or a connection, that the server refused before a handler saw it.
public struct RefusedRequest: Sendable, Hashable {
  /// The numeric address that it came from; `nil` where libmicrohttpd refused it before the end of its head, and does not say.
  public let remoteAddress: String?
  /// The status of the answer; `nil` where the connection was closed without one.
  public let status: Int?
  /// What was wrong; nothing of what the client sent.
  public let reason: String

  package init(remoteAddress: String?, status: Int?, reason: String) {
    self.remoteAddress = remoteAddress
    self.status = status
    self.reason = reason
  }
}

/// The bounds on what clients may use.
///
/// Deadlines are enforced within a quarter of a second.
public struct ServerLimits: Sendable, Hashable {
  /// The largest body, in bytes; above it the answer is 413.
  public var bodyByteCount = 64 * 1024
  /// The largest header section, in bytes, and with it ``headerCount``; above it the answer is 431.
  public var headerByteCount = 8 * 1024
  /// The most header fields.
  public var headerCount = 100
  /// The longest request line, in bytes; above it the answer is 414.
  public var requestLineByteCount = 4 * 1024
  /// Connections at one time; of those above, ``turnedAwayCount`` are told so (503), and all others closed at once.
  public var connectionCount = 1024
  /// Connections at one time from one IPv4 address or one IPv6 /64 network, which one host can fill.
  public var connectionCountPerAddress = 64
  /// Connections above the limits, at one time, whose first request is answered with 503.
  public var turnedAwayCount = 64
  /// Those of them from one address or network.
  public var turnedAwayCountPerAddress = 4
  /// How long a connection may stay without a byte in either direction; whole seconds, at least 1.
  public var idleTimeout: Duration = .seconds(15)
  /// The time from the start of a connection, or from the end of the previous response, to the last byte of a
  /// request.
  ///
  /// It holds however the bytes trickle in, and counts the TLS handshake.
  public var requestDeadline: Duration = .seconds(60)
  /// How long a handler may take; then its task is cancelled and the client is told to try again (503).
  public var handlerDeadline: Duration = .seconds(60)
  /// How long a client may take to read a response.
  public var responseDeadline: Duration = .seconds(60)

  /// The defaults.
  public init() {}
}

extension HTTPServerConfiguration {
  /// Refuses values that would stop the server from serving, or that the library cannot hold.
  func checkRanges() throws(ServerFailure) {
    let counts: [(String, Int, ClosedRange<Int>)] = [
      ("threadCount", threadCount, 1...64),
      ("bodyByteCount", limits.bodyByteCount, 0...(1 << 30)),
      ("headerByteCount", limits.headerByteCount, 256...(1 << 20)),
      ("headerCount", limits.headerCount, 1...10_000),
      ("requestLineByteCount", limits.requestLineByteCount, 16...(1 << 20)),
      ("connectionCount", limits.connectionCount, 1...1_000_000),
      ("connectionCountPerAddress", limits.connectionCountPerAddress, 1...1_000_000),
      ("turnedAwayCount", limits.turnedAwayCount, 0...10_000),
      ("turnedAwayCountPerAddress", limits.turnedAwayCountPerAddress, 0...10_000),
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
