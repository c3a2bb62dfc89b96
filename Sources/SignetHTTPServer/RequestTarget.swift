/// The target of a request line, split into path and query (RFC 9112 section 3.2).
struct RequestTarget {
  let path: RequestPath
  let query: QueryParameters

  /// Parses a target in origin form, absolute form (its authority is dropped) or, for `OPTIONS`, `*`.
  init(_ bytes: [UInt8], method: String) throws(RequestRefusal) {
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw .malformed
    }
    if bytes == [UInt8(ascii: "*")] {
      guard method == "OPTIONS" else { throw .malformed }
      path = try RequestPath(raw: "*")
      query = QueryParameters()
      return
    }
    let origin = try Self.originForm(bytes)
    guard let separator = origin.firstIndex(of: UInt8(ascii: "?")) else {
      path = try RequestPath(raw: String(decoding: origin, as: UTF8.self))
      query = QueryParameters()
      return
    }
    path = try RequestPath(raw: String(decoding: origin[..<separator], as: UTF8.self))
    query = try QueryParameters(raw: String(decoding: origin[(separator + 1)...], as: UTF8.self))
  }

  /// Drops `http://authority` of an absolute form, which every server must accept.
  private static func originForm(_ bytes: [UInt8]) throws(RequestRefusal) -> ArraySlice<UInt8> {
    if bytes.first == UInt8(ascii: "/") { return bytes[...] }
    for scheme in ["http://", "https://"] {
      let prefix = bytes.prefix(scheme.utf8.count)
      guard HeaderFields.isSame(String(decoding: prefix, as: UTF8.self), scheme) else { continue }
      let rest = bytes[prefix.endIndex...]
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else {
        throw .malformed
      }
      return rest[slash...]
    }
    throw .malformed
  }
}

/// Percent-decoding (RFC 3986 section 2.1), total and strict.
enum PercentDecoding {
  static func decode(
    _ bytes: some Collection<UInt8>, plusIsSpace: Bool
  ) throws(RequestRefusal) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(value(ofHexDigit:)),
          let low = rest.next().flatMap(value(ofHexDigit:))
        else {
          throw .malformed
        }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(0x20)
      default: decoded.append(byte)
      }
    }
    guard decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
      let text = String(validating: decoded, as: UTF8.self)
    else { throw .malformed }
    return text
  }

  private static func value(ofHexDigit byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
