#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The names that a server's certificate is for, DNS names and IP addresses told apart, each of them once.
struct CertificateNames: Hashable, Sendable {
  private(set) var dnsNames: [String] = []
  /// In their shortest form.
  private(set) var ipAddresses: [String] = []

  /// Sorts names and addresses; an IPv6 address may stand in brackets, as in URLs.
  init(_ names: [String]) {
    for name in names {
      if let address = Self.address(name) {
        if !ipAddresses.contains(address) { ipAddresses.append(address) }
      } else if !dnsNames.contains(where: { Self.comparable($0) == Self.comparable(name) }) {
        dnsNames.append(name)
      }
    }
  }

  /// All of them, in the order in which they stand in a certificate.
  var all: [String] { dnsNames + ipAddresses }

  /// The form in which two names are equal exactly where clients take them for the same.
  static func comparable(_ name: String) -> String { address(name) ?? name.lowercased() }

  /// An address in its shortest form (RFC 5952); `nil` for what is none.
  private static func address(_ name: String) -> String? {
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    let bare = isBracketed ? String(name.dropFirst().dropLast()) : name
    guard !bare.utf8.contains(0) else { return nil }
    var address = in6_addr()
    for family in [AF_INET, AF_INET6] where inet_pton(family, bare, &address) == 1 {
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(family, &address, &text, socklen_t(text.count)) != nil else { return nil }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}
