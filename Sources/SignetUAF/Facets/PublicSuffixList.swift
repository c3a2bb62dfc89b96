import CLibPSL

/// The Public Suffix List (https://publicsuffix.org) in the newest version that the system has, read once.
@safe package struct PublicSuffixList: @unchecked Sendable {  // immutable and never freed
  /// Without a list, no domain is registrable.
  private let raw: OpaquePointer?

  package static let system = PublicSuffixList()

  private init() { unsafe raw = psl_latest(nil) ?? psl_builtin() }

  /// Returns the registrable domain of a host: the public suffix and one more label.
  ///
  /// - Parameter host: The host in lower case; a name that is not ASCII is in Punycode.
  /// - Returns: The domain; `nil` for a public suffix and for an address.
  package func registrableDomain(of host: String) -> String? {
    // The list has no top-level domain that begins with a digit, and libpsl takes the last number of an address for one.
    // It does not know suffixes that end with a dot.
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.last?.first?.isNumber == false else { return nil }
    return unsafe host.withCString { name in
      unsafe psl_registrable_domain(raw, name).map { unsafe String(cString: $0) }
    }
  }
}
