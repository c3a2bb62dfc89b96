internal import CMicroHTTPD

/// The head of a request, validated against the bytes that arrived.
///
/// MHD splits the head in place: it overwrites separators with NUL and hands out pointers. It also accepts NUL inside a
/// line, bare line feeds, folded lines, and white space before the colon, contrary to the standard. This enables request
/// smuggling. Here each part must begin exactly where the previous one ended, so that no bytes between them were skipped or
/// merged.
///
/// This holds for the head only. MHD is as lenient in chunk framing and trailers, and does not report their positions. A
/// chunked body is therefore refused with its head, before MHD parses the first chunk (``BodyFraming``).
struct RequestHead {
  let method: String
  let target: RequestTarget
  let headers: HeaderFields
  let framing: BodyFraming
  /// True if the client waits for `100 Continue` and has not sent its body yet.
  let expectsContinue: Bool

  /// MHD's pointers to the parts of the request line.
  @unsafe struct Line {
    let method: UnsafePointer<CChar>
    let target: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>
  }

  /// Validates and copies the head.
  ///
  /// - Parameters:
  ///   - line: The parts of the request line in MHD's memory.
  ///   - target: The target before MHD split it.
  ///   - handle: The connection with the header fields.
  ///   - limits: The limits on the line and the fields.
  /// - Throws: The refusal to answer with; the connection must then be closed.
  init(
    _ line: Line, target: [UInt8], handle: ConnectionHandle, limits: ServerLimits
  ) throws(RequestRefusal) {
    let start = unsafe UnsafeRawPointer(line.method)
    let methodByteCount = unsafe strlen(line.method)
    let versionStart = unsafe UnsafeRawPointer(line.version) - start
    guard unsafe UnsafeRawPointer(line.target) - start == methodByteCount + 1,
      versionStart == methodByteCount + target.count + 2, unsafe strlen(line.version) == 8
    else { throw .malformed }
    let version = unsafe String(cString: line.version)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .unsupportedVersion }
    let lineByteCount = versionStart + 8
    guard lineByteCount <= limits.requestLineByteCount else { throw .targetTooLong }
    let method = unsafe UnsafeRawBufferPointer(start: start, count: methodByteCount)
    guard methodByteCount <= 32, Token.isValid(unsafe Array(method)) else { throw .malformed }
    self.method = unsafe String(decoding: method, as: UTF8.self)

    let headByteCount = handle.headByteCount
    guard headByteCount - lineByteCount <= limits.headerByteCount else { throw .headersTooLarge }
    var collector = unsafe FieldCollector(
      next: start + (lineByteCount + 2), end: start + headByteCount, limit: limits.headerCount)
    unsafe handle.forEachField(&collector, FieldCollector.visit)
    headers = try unsafe collector.finished()
    // With two of them, different readers would use different ones.
    guard headers.count(of: "Authorization") <= 1 else { throw .malformed }
    framing = try BodyFraming(headers, version: version)
    self.target = try RequestTarget(target, method: self.method)
    expectsContinue = headers.count(of: "Expect") > 0
  }
}

/// Copies MHD's fields and checks that they follow one another without a gap.
@unsafe private struct FieldCollector {
  private var next: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private let start: UnsafeRawPointer
  private let limit: Int
  private var positions: [ReceivedFields.Position] = []
  private var refusal: RequestRefusal?

  init(next: UnsafeRawPointer, end: UnsafeRawPointer, limit: Int) {
    unsafe self.next = unsafe next
    unsafe start = unsafe next
    unsafe self.end = unsafe end
    unsafe self.limit = limit
  }

  /// The callback for `MHD_get_connection_values_n`; `MHD_NO` ends the visit.
  static let visit:
    @convention(c) (
      UnsafeMutableRawPointer?, MHD_ValueKind, UnsafePointer<CChar>?, Int, UnsafePointer<CChar>?, Int
    ) -> MHD_Result = { context, _, name, nameByteCount, value, valueByteCount in
      guard let collector = unsafe context?.assumingMemoryBound(to: FieldCollector.self) else { return .NO }
      guard let name = unsafe name, let value = unsafe value else {
        unsafe collector.pointee.refusal = .malformed
        return .NO
      }
      return unsafe collector.pointee.collect(
        UnsafeRawBufferPointer(start: name, count: nameByteCount),
        UnsafeRawBufferPointer(start: value, count: valueByteCount)) ? .YES : .NO
    }

  private mutating func collect(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    guard unsafe positions.count < limit else {
      unsafe refusal = .headersTooLarge
      return false
    }
    guard unsafe name.baseAddress == next, let valueStart = value.baseAddress,
      unsafe valueStart > next + name.count, unsafe valueStart + value.count <= end,
      unsafe !name.isEmpty && name.allSatisfy(Token.isTokenByte), unsafe Self.isText(value)
    else {
      unsafe refusal = .malformed
      return false
    }
    var valueCount = value.count
    while valueCount > 0, unsafe value[valueCount - 1] == 0x20 || value[valueCount - 1] == 0x09 {
      valueCount -= 1
    }
    let (nameOffset, valueOffset) = unsafe (next - start, valueStart - start)
    unsafe positions.append(
      ReceivedFields.Position(
        name: nameOffset..<nameOffset + name.count, value: valueOffset..<valueOffset + valueCount))
    unsafe next = valueStart + (value.count + 2)  // carriage return and line feed
    return true
  }

  /// True if a value is UTF-8 without control bytes other than the tab.
  private static func isText(_ value: UnsafeRawBufferPointer) -> Bool {
    var isASCII = true
    for index in value.indices {
      let byte = unsafe value[index]
      guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return false }
      if byte >= 0x80 { isASCII = false }
    }
    return unsafe isASCII || String(validating: value, as: UTF8.self) != nil
  }

  /// Returns the fields, if the empty line and the end of the head follow the last one.
  func finished() throws(RequestRefusal) -> HeaderFields {
    if let refusal = unsafe refusal { throw refusal }
    guard unsafe next + 2 == end else { throw .malformed }
    let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: end - start))
    return unsafe HeaderFields(ReceivedFields(bytes: bytes, positions: positions))
  }
}

/// The delimitation of the body (RFC 9112 section 6); all ambiguous forms are refused.
enum BodyFraming: Equatable {
  case none
  case length(UInt64)

  init(_ headers: HeaderFields, version: String) throws(RequestRefusal) {
    let hostCount = headers.count(of: "Host")
    guard hostCount <= 1, version == "HTTP/1.0" || hostCount == 1 else { throw .malformed }
    guard headers.count(of: "Content-Length") + headers.count(of: "Transfer-Encoding") <= 1 else {
      throw .malformed
    }
    if let coding = headers["Transfer-Encoding"] {
      guard version == "HTTP/1.1" else { throw .malformed }
      throw HeaderFields.isSame(coding, "chunked") ? .lengthRequired : .unsupportedTransferCoding
    } else if let length = headers["Content-Length"] {
      guard length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = UInt64(length) else {
        throw .malformed
      }
      self = .length(count)
    } else {
      self = .none
    }
  }
}
