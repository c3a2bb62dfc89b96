/// Tells which domain of a host one owner registered (the public suffix and one label).
package protocol PublicSuffixes: Sendable {
  /// The registered domain of a host in lower case; nil for a public suffix itself, and for an address.
  func registrableDomain(of host: String) -> String?
}

/// Knows no suffixes, so that a host belongs to itself alone.
package struct NoPublicSuffixes: PublicSuffixes {
  package init() {}

  package func registrableDomain(of host: String) -> String? { host }
}
