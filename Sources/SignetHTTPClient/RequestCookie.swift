/// A cookie for one request (RFC 6265 section 4.2); a transport itself stores none.
public struct RequestCookie: Hashable, Sendable {
  /// The cookie's name, a token.
  public let name: String
  /// The cookie's value.
  public let value: String

  /// Creates a cookie; `nil` if it cannot be sent as one (RFC 6265 section 4.1.1).
  ///
  /// - Parameters:
  ///   - name: A token of at most 128 bytes.
  ///   - value: Printable ASCII of at most 4,096 bytes without blanks, commas, semicolons and backslashes.
  public init?(name: String, value: String) {
    guard (1...128).contains(name.utf8.count), name.utf8.allSatisfy(CheckedRequest.isTokenByte),
      value.utf8.count <= 4_096,
      value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && ![0x2C, 0x3B, 0x5C].contains($0) })
    else { return nil }
    (self.name, self.value) = (name, value)
  }
}
