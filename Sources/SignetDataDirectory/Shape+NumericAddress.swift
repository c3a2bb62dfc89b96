import SignetServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Shape<String> {
  /// An IPv4 or IPv6 address, read into the form of `inet_ntop`, which requests use as well.
  static let numericAddress = string("a numeric address", read: { canonicalAddress($0) }, text: { $0 })

  /// Returns an address in the form of `inet_ntop`; `nil` if the text is not a numeric address.
  private static func canonicalAddress(_ text: String) -> String? {
    var address = in6_addr()
    for family in [AF_INET, AF_INET6] where inet_pton(family, text, &address) == 1 {
      var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(family, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}
