import CCurl

/// A caller's order for the event loop.
struct TransferOrder: Sendable {
  let id: UInt64
  let request: CheckedRequest
  /// The end of its time; nil for no limit.
  let deadline: ContinuousClock.Instant?
  let continuation: CheckedContinuation<TransferOutcome, Never>

  func abandon(_ failure: TransportFailure) { continuation.resume(returning: .final(failure)) }
}

extension Duration {
  /// Whole milliseconds, at least 1: libcurl reads 0 as "no limit".
  var positiveMilliseconds: Int {
    max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
  }
}

struct TransferOutcome: Sendable {
  let result: Result<HTTPResponse, TransportFailure>
  /// True if no connection was made, so that the server cannot have processed any byte of the request.
  let mayBeRepeated: Bool

  /// Creates a failure that must not be retried.
  static func final(_ failure: TransportFailure) -> TransferOutcome {
    TransferOutcome(result: .failure(failure), mayBeRepeated: false)
  }
}

/// A running transfer: its handle, the memory that libcurl borrows, and the received bytes.
///
/// Used only on the event loop's thread. libcurl has only its address. The event loop's table holds the reference that keeps
/// it alive, from before the handle is added until after it is removed.
final class Transfer {
  let id: UInt64
  let easy: EasyHandle
  private let fields: TextList
  private let connectEntries: TextList
  private let isHead: Bool
  private let acceptsRedirect: Bool
  private let settings: TransferSettings
  private let continuation: CheckedContinuation<TransferOutcome, Never>
  private var body: [UInt8] = []
  private var head: ResponseHead
  private var headerByteCount = 0
  /// The reason if a callback ended the transfer.
  private var refusal: TransportFailure?
  private var requestCount = 0

  /// Prepares a transfer; connects nothing yet.
  init(_ order: TransferOrder, _ settings: TransferSettings) throws(TransportFailure) {
    let request = order.request
    id = order.id
    isHead = request.method == .head
    acceptsRedirect = request.acceptsRedirect
    continuation = order.continuation
    self.settings = settings
    head = ResponseHead(upTo: settings.version)
    easy = try EasyHandle()
    fields = try TextList(Self.lines(of: request))
    connectEntries = try TextList(settings.connectEntries)
    try settings.apply(to: easy)
    try easy.set(CURLOPT_URL, request.url)
    let timeout = order.deadline.map { ContinuousClock.now.duration(to: $0).positiveMilliseconds }
    try easy.set(CURLOPT_TIMEOUT_MS, timeout ?? 0)
    // 0 means 300 s for the connection alone, so "no limit" needs the largest number.
    try easy.set(CURLOPT_CONNECTTIMEOUT_MS, timeout ?? Int(Int32.max))
    try Self.apply(request, to: easy)
    try easy.set(CURLOPT_HTTPHEADER, fields)
    try easy.set(CURLOPT_CONNECT_TO, connectEntries)
    if request.method != .head {  // a response to HEAD announces a length but has no body
      try easy.setOffset(CURLOPT_MAXFILESIZE_LARGE, settings.maximumBodyByteCount)
    }
    try setCallbacks()
  }

  /// Returns the transfer that a context pointer refers to.
  static func at(_ context: UnsafeMutableRawPointer) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }

  /// Resumes the caller with the result of a transfer that libcurl has ended.
  func finish(_ code: CURLcode) {
    guard code == CURLE_OK else {
      let state = TransferState(
        requestWasSent: requestCount > 0, responseHasBegun: head.hasBegun, refusal: refusal,
        bodyLimit: settings.maximumBodyByteCount, verifyResult: easy.number(CURLINFO_SSL_VERIFYRESULT))
      let unconnected = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT]
      let mayBeRepeated = requestCount == 0 && unconnected.contains(code)
      let failure = TransportFailure(code, state)
      continuation.resume(
        returning: TransferOutcome(result: .failure(failure), mayBeRepeated: mayBeRepeated))
      return
    }
    continuation.resume(returning: TransferOutcome(result: response(), mayBeRepeated: false))
  }

  func abandon(_ failure: TransportFailure) { continuation.resume(returning: .final(failure)) }

  private func response() -> Result<HTTPResponse, TransportFailure> {
    guard head.isComplete, let status = head.status, isHead || head.isFramed else {
      return .failure(.incompleteResponse(code: CURLE_PARTIAL_FILE.number))
    }
    if !acceptsRedirect, (300...399).contains(status), status != 304 {
      return .failure(.redirectRefused(status: status))
    }
    return .success(HTTPResponse(status: status, headers: head.fields, body: body))
  }

  private static func lines(of request: CheckedRequest) -> [String] {
    // Waiting for "100 Continue" costs a round trip, and after a refusal libcurl would send again.
    var lines = request.fieldLines + ["Expect:"]
    let hasType = lines.contains { $0.lowercased().hasPrefix("content-type") }
    if !hasType { lines.append("Content-Type:") }  // no type rather than libcurl's form type
    return lines
  }

  private static func apply(
    _ request: CheckedRequest, to easy: borrowing EasyHandle
  ) throws(TransportFailure) {
    switch request.method {
    case .get: try easy.set(CURLOPT_HTTPGET, 1)
    case .head: try easy.set(CURLOPT_NOBODY, 1)
    case .post, .put, .patch: try easy.setContent(request.body)
    case .delete: if !request.body.isEmpty { try easy.setContent(request.body) }
    }
    switch request.method {
    case .get, .head, .post: break
    case .put, .patch, .delete: try easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  private func setCallbacks() throws(TransportFailure) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    try unsafe easy.setContext(context)
    try unsafe easy.setCallback(
      CURLOPT_WRITEFUNCTION, receiveBody, context: CURLOPT_WRITEDATA, context)
    try unsafe easy.setCallback(
      CURLOPT_HEADERFUNCTION, receiveHeader, context: CURLOPT_HEADERDATA, context)
    try unsafe easy.setRequestCallback(requestBegins, context: context)
  }

  /// Appends part of the body; returns false to end the transfer.
  fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= settings.maximumBodyByteCount - body.count else {
      refusal = .responseTooLarge(limit: settings.maximumBodyByteCount)
      return false
    }
    unsafe body.append(contentsOf: bytes)
    return true
  }

  /// Processes a status line, a field, an empty line or a trailer; returns false to end the transfer.
  fileprivate func receive(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= settings.maximumHeaderByteCount - headerByteCount else {
      refusal = .headersTooLarge(limit: settings.maximumHeaderByteCount)
      return false
    }
    headerByteCount += bytes.count
    guard unsafe head.take(line: Array(bytes)) else {
      refusal = .malformedResponse(code: CURLE_WEIRD_SERVER_REPLY.number)
      return false
    }
    return true
  }

  /// Returns true if the request may be written: only the first time.
  fileprivate func mayWriteRequest() -> Bool {
    guard requestCount == 0 else { return false }
    requestCount += 1
    return true
  }
}

/// `CURLOPT_WRITEFUNCTION`.
private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  // CURL_WRITEFUNC_ERROR is newer than the oldest supported libcurl; any other count has the same effect.
  return unsafe Transfer.at(context).receive(body: part) ? part.count : Int(UInt32.max)
}

/// `CURLOPT_HEADERFUNCTION`.
private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe Transfer.at(context).receive(headerLine: line) ? line.count : Int(UInt32.max)
}

/// `CURLOPT_PREREQFUNCTION`: the connection is established, and the request is about to be written.
private func requestBegins(
  _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?,
  _: Int32, _: Int32
) -> Int32 {
  guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
  return unsafe Transfer.at(context).mayWriteRequest() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
