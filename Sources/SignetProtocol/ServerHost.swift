#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The canonical form of a server URL's host.
enum ServerHost {
  /// Validates a host and converts it to its canonical form.
  ///
  /// - Parameter text: A DNS name (RFC 1123 section 2.1), a dotted IPv4 address, or an IPv6 address in brackets
  ///   (RFC 3986 section 3.2.2).
  /// - Returns: The host in lower case; an IPv6 address as in RFC 5952, in brackets.
  /// - Throws: ``ServerURLFailure/host`` or ``ServerURLFailure/internationalHost``.
  static func canonical(_ text: Substring) throws(ServerURLFailure) -> String {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .internationalHost }
    if text.first == "[" { return "[\(try canonicalIPv6(text.dropFirst().dropLast()))]" }
    let name = text.lowercased()
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.utf8.count <= 253, labels.allSatisfy(isLabel) else { throw .host }
    // A host whose last label is a number is an address (WHATWG URL section 3.5). Otherwise 0x7f.1 or 127.1 would be a name
    // here, and an address for the resolver.
    if let last = labels.last, last.first?.isNumber == true, isNumeric(last) {
      guard labels.count == 4, labels.allSatisfy(isOctet) else { throw .host }
    }
    return name
  }

  private static func isLabel(_ label: Substring) -> Bool {
    guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
    return label.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
  }

  /// Indicates whether a label is decimal or `0x` hexadecimal: the address parsers of C libraries accept both as numbers.
  private static func isNumeric(_ label: Substring) -> Bool {
    label.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      || (label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit))
  }

  private static func isOctet(_ label: Substring) -> Bool {
    guard let value = UInt8(label) else { return false }
    return String(value) == label  // no leading zero, which some parsers read as octal
  }

  private static func canonicalIPv6(_ text: Substring) throws(ServerURLFailure) -> String {
    var address = in6_addr()
    guard unsafe inet_pton(AF_INET6, String(text), &address) == 1 else { throw .host }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard unsafe inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else {
      throw .host
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
