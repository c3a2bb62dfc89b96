/// The header section of a response, parsed line by line and more strictly than HTTP libraries do.
///
/// RFC 9112 allows a client to be lenient with line ends, folded lines and repeated lengths. Each of these lets an attacker
/// show one response to this client and another to an intermediary, so all are rejected.
package struct ResponseHead {
  /// The final response's status, 200 to 599; nil until it arrives.
  package private(set) var status: Int?
  /// The final response's fields, as (name, value) without surrounding white space.
  package private(set) var fields: [(String, String)] = []
  /// True if any line has arrived.
  private(set) var hasBegun = false
  private var stage = Stage.statusLine
  /// True if the response came in frames that mark its end (RFC 9113 section 8.1).
  private var isInFrames = false

  private let version: HTTPVersion

  /// Creates a parser for the response to a request of at most this version.
  package init(upTo version: HTTPVersion = .http1) { self.version = version }

  private enum Stage { case statusLine, informational, final, complete }

  /// True if an empty line ended the section; libcurl also reports the end of a section when a connection breaks.
  package var isComplete: Bool { stage == .complete }

  /// True if the response marks the end of its body.
  ///
  /// An attacker on the path could truncate a body that ends with the connection (RFC 9112 section 6.3, rule 8): libcurl
  /// 7.88 makes OpenSSL ignore a missing `close_notify` alert.
  package var isFramed: Bool {
    if status == 204 || status == 304 || isInFrames { return true }
    return fields.contains { name, value in
      switch name.lowercased() {
      case "content-length": true
      case "transfer-encoding": value.lowercased() == "chunked"
      default: false
      }
    }
  }

  /// Parses the next line, its line end included; trailers, which follow the section, are dropped.
  ///
  /// - Parameter line: A status line, a field, or an empty line.
  /// - Returns: False if the line is not allowed there.
  package mutating func take(line: [UInt8]) -> Bool {
    hasBegun = true
    guard line.suffix(2) == [0x0D, 0x0A] else { return false }
    let content = line.dropLast(2)
    switch stage {
    case .statusLine: return takeStatus(content)
    case .informational:
      if content.isEmpty { stage = .statusLine }
      return true
    case .final:
      if content.isEmpty { stage = .complete }
      return content.isEmpty ? framingIsClear : takeField(content)
    case .complete: return true
    }
  }

  /// Parses `HTTP/1.1 200 OK` (RFC 9112 section 4) without the reason; `HTTP/2 200` is libcurl's form of the field
  /// `:status`.
  private mutating func takeStatus(_ line: ArraySlice<UInt8>) -> Bool {
    let version = line.prefix { $0 != UInt8(ascii: " ") }
    let digits = line.dropFirst(version.count + 1).prefix(3)
    let rest = line.dropFirst(version.count + 4)
    guard Self.versions.contains(Array(version)), digits.count == 3,
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      rest.isEmpty || rest.first == UInt8(ascii: " ")
    else { return false }
    isInFrames = version == Array("HTTP/2".utf8)[...]
    if isInFrames, self.version != .http2 { return false }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    switch number {
    case 100, 102...199: stage = .informational  // 101 would switch to another protocol
    case 200...599: (stage, status) = (.final, number)
    default: return false
    }
    return true
  }

  private static let versions = ["HTTP/1.1", "HTTP/1.0", "HTTP/2"].map { Array($0.utf8) }

  /// Parses `Name: value` (RFC 9112 section 5); a folded line has no name and is rejected.
  private mutating func takeField(_ line: ArraySlice<UInt8>) -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let name = line[..<colon]
    guard !name.isEmpty, name.allSatisfy(CheckedRequest.isTokenByte) else { return false }
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let untrimmed = line[(colon + 1)...].drop(while: isBlank)
    let value = untrimmed[..<(untrimmed.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? untrimmed.startIndex)]
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return false }
    fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    return true
  }

  /// True if there is at most one length, and none together with a transfer coding (RFC 9112 section 6.3, rules 3 and 5).
  private var framingIsClear: Bool {
    let names = fields.map { $0.0.lowercased() }
    return names.count { $0 == "content-length" || $0 == "transfer-encoding" } <= 1
  }
}
