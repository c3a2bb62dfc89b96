/// The decision whether a caller may act for an application, before any fetch (FIDO AppID and Facets section 3.1.2).
package enum FacetDecision: Hashable, Sendable {
  /// The caller may act under this appID.
  case allowed(appID: String)
  /// The caller must be in the list at this URL: fetch it and use
  /// ``TrustedFacetList/trusted(by:version:takesOlderVersions:)``.
  case fetch(url: String, WebOrigin)
  /// The caller may not act for the application.
  case refused

  /// Decides whether a caller may act for an application.
  ///
  /// - Parameters:
  ///   - appID: The appID of the request; `nil` or empty for the caller itself.
  ///   - facetID: The facet id of the caller.
  package init(appID: String?, facetID: String) {
    guard let appID, !appID.isEmpty else {
      self = .allowed(appID: facetID)
      return
    }
    guard let origin = WebOrigin(appID) else {
      self = appID.utf8.elementsEqual(facetID.utf8) ? .allowed(appID: appID) : .refused
      return
    }
    if case .web(let caller)? = FacetID(facetID), caller == origin {
      self = .allowed(appID: appID)
    } else {
      self = .fetch(url: appID, origin)
    }
  }
}
