/// Whether a caller may act for an application (FIDO AppID and Facets section 3.1.2), as far as it can be said without
/// fetching anything.
package enum FacetDecision: Hashable, Sendable {
  /// It may, under this appID.
  case allowed(appID: String)
  /// The list at this URL has to be fetched, and looked at with ``TrustedFacetList/trusted(by:version:takesOlderVersions:suffixes:)``.
  case fetch(url: String, WebOrigin)
  /// It may not.
  case refused

  /// Decides.
  ///
  /// - Parameters:
  ///   - appID: What the request says; nil or empty for whoever calls.
  ///   - facetID: Who calls.
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
