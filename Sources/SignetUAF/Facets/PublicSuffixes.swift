/// A source of registrable domains: the public suffix and one more label.
package protocol PublicSuffixes: Sendable {
  /// Returns the registrable domain of a lower-case host; `nil` for a public suffix and for an address.
  func registrableDomain(of host: String) -> String?
}

/// A source without suffixes: each host is its own registrable domain.
package struct NoPublicSuffixes: PublicSuffixes {
  package init() {}

  package func registrableDomain(of host: String) -> String? { host }
}
