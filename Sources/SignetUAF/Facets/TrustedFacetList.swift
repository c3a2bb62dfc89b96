package import SignetJSON

/// The callers that an application trusts, as its list at the appID says (FIDO AppID and Facets section 3.1).
package struct TrustedFacetList: Hashable, Sendable {
  /// The callers for one version of the protocol.
  package struct Facets: Hashable, Sendable {
    package let version: UAFVersion
    /// As they are written, in order.
    package let ids: [String]

    package init(version: UAFVersion, ids: [String]) { (self.version, self.ids) = (version, ids) }
  }

  package let facets: [Facets]

  package init(_ facets: [Facets]) { self.facets = facets }

  /// The media type of the list.
  package static let mediaType = "application/fido.trusted-apps+json"

  /// How large a list may be.
  package static let limits = JSONLimits(
    maximumDepth: 8, maximumByteCount: 1 << 18, maximumMemberCount: 16_384)

  /// Reads a list.
  ///
  /// - Throws: ``MessageFailure``; two entries of one version are refused, as it is not said which counts.
  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: text, limits: Self.limits) } catch {
      throw .json(error)
    }
    facets = try DictionaryReader(object).list("trustedFacets", maximum: 16) {
      value, path throws(MessageFailure) in
      let reader = try DictionaryReader(value, path)
      return Facets(
        version: try UAFVersion(reader.dictionary("version")),
        ids: try reader.list("ids", minimum: 0, maximum: 4096) { value, path throws(MessageFailure) in
          try DictionaryReader.text(value, path)
        })
    }
    for (index, entry) in facets.enumerated()
    where facets[..<index].contains(where: { $0.version == entry.version }) {
      throw .repeatedVersion(entry.version)
    }
  }

  /// The list as an object.
  package var json: JSONObject {
    [
      "trustedFacets": .dictionaries(
        facets.map { ["version": .object($0.version.json), "ids": .strings($0.ids)] })
    ]
  }

  /// The callers that may act for an application.
  ///
  /// - Parameters:
  ///   - appID: Where the list came from, an `https` URL.
  ///   - version: The version of the message.
  ///   - takesOlderVersions: Whether a list that has no entry of the version may have one of an earlier one; most lists have
  ///     1.0 alone.
  ///   - suffixes: What tells names that one owner has from those of many.
  /// - Returns: The ids that follow the rules; others are left out.
  package func trusted(
    by appID: WebOrigin, version: UAFVersion, takesOlderVersions: Bool = false,
    suffixes: some PublicSuffixes
  ) -> Set<String> {
    let entry =
      facets.first { $0.version == version }
      ?? (takesOlderVersions
        ? facets.filter { $0.version.major == version.major && $0.version < version }
          .max { $0.version < $1.version }
        : nil)
    return Set(
      (entry?.ids ?? []).filter { FacetID($0)?.isAllowed(by: appID, suffixes: suffixes) ?? false })
  }
}

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

/// Scheme, host and port of a web page; the host in lower case.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  /// Reads an `https` URL; what follows the host and port is looked at only where it may not be there.
  ///
  /// - Parameters:
  ///   - text: The URL, in ASCII.
  ///   - isOriginOnly: Whether there may be nothing but scheme, host and port.
  package init?(_ text: String, isOriginOnly: Bool = false) {
    let scheme = "https://"
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      text.utf8.count > scheme.utf8.count, text.prefix(scheme.count).lowercased() == scheme
    else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
    guard !isOriginOnly || authority.count == rest.count, !authority.contains("@") else { return nil }
    var host = authority
    var port: UInt16 = 443
    if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
      let digits = authority[authority.index(after: colon)...]
      guard (1...5).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
        let number = UInt16(digits), number > 0
      else { return nil }
      host = authority[..<colon]
      port = number
    }
    let name = host.lowercased()
    guard Self.isHost(name) else { return nil }
    (self.host, self.port) = (name, port)
  }

  /// Labels of letters, digits and hyphens, or an address in brackets.
  private static func isHost(_ name: String) -> Bool {
    guard (1...253).contains(name.utf8.count) else { return false }
    if name.hasPrefix("["), name.hasSuffix("]") {
      return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
    }
  }

  /// The origin as facets write it.
  package var description: String { "https://\(host)" + (port == 443 ? "" : ":\(port)") }
}

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
