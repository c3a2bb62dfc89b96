#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The names in a server's certificate: DNS names and IP addresses, each once.
struct CertificateNames: Hashable, Sendable {
  private(set) var dnsNames: [String] = []
  /// The addresses in canonical form (RFC 5952).
  private(set) var ipAddresses: [String] = []

  /// Sorts names and addresses; an IPv6 address may have brackets, as in URLs.
  init(_ names: [String]) {
    for name in names {
      if let address = Self.address(name) {
        if !ipAddresses.contains(address) { ipAddresses.append(address) }
      } else if !dnsNames.contains(where: { Self.comparable($0) == Self.comparable(name) }) {
        dnsNames.append(name)
      }
    }
  }

  /// All names, in the order of the certificate.
  var all: [String] { dnsNames + ipAddresses }

  /// Returns a form in which two names are equal exactly if clients consider them equal.
  static func comparable(_ name: String) -> String { address(name) ?? name.lowercased() }

  /// Returns an address in its canonical form (RFC 5952); `nil` if the text is not an address.
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
