/// The identity of a client's caller.
package enum FacetID: Hashable, Sendable {
  /// An app, by its identity from the operating system: `ios:bundle-id:…`, `android:apk-key-hash:…`.
  case application(String)
  /// A web page.
  case web(WebOrigin)

  /// Parses an id; `nil` unless it is an app's or an `https` origin without a path or wildcard.
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

  /// Indicates whether a list at this appID may contain the id: an app always, a page only of the same registrable domain.
  package func isAllowed(by appID: WebOrigin) -> Bool {
    switch self {
    case .application: return true
    case .web(let origin):
      if origin.host == appID.host { return true }
      guard let appDomain = PublicSuffixList.system.registrableDomain(of: appID.host) else { return false }
      return PublicSuffixList.system.registrableDomain(of: origin.host) == appDomain
    }
  }
}
