/// Who calls a client.
package enum FacetID: Hashable, Sendable {
  /// An app, by what its system says of it: `ios:bundle-id:…`, `android:apk-key-hash:…`.
  case application(String)
  /// A web page.
  case web(WebOrigin)

  /// Reads an id; nil for what is neither an app's nor an `https` origin, such as one with a path or a wildcard.
  package init?(_ text: String) {
    guard (1...512).contains(text.utf8.count) else { return nil }
    let scheme = text.prefix { $0 != ":" }.lowercased()
    if scheme == "https" {
      guard let origin = WebOrigin(text, isOriginOnly: true) else { return nil }
      self = .web(origin)
      return
    }
    guard scheme != "http", text.contains(":") || text.contains("."),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "*") })
    else { return nil }
    self = .application(text)
  }

  /// Whether a list at this appID may name it: an app always, a page only of the same registered domain.
  package func isAllowed(by appID: WebOrigin, suffixes: some PublicSuffixes) -> Bool {
    switch self {
    case .application: return true
    case .web(let origin):
      if origin.host == appID.host { return true }
      guard let own = suffixes.registrableDomain(of: appID.host) else { return false }
      return suffixes.registrableDomain(of: origin.host) == own
    }
  }
}
