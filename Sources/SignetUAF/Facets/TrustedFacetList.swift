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
