package import SignetJSON

/// The callers that an application trusts, from the list at its appID (FIDO AppID and Facets section 3.1).
package struct TrustedFacetList: Hashable, Sendable {
  /// The callers for one version of the protocol.
  package struct Facets: Hashable, Sendable {
    package let version: UAFVersion
    /// The ids as received, in order.
    package let ids: [String]

    package init(version: UAFVersion, ids: [String]) { (self.version, self.ids) = (version, ids) }
  }

  package let facets: [Facets]

  package init(_ facets: [Facets]) { self.facets = facets }

  package static let mediaType = "application/fido.trusted-apps+json"

  /// The limits for the size of a list.
  package static let limits = JSONLimits(
    maximumDepth: 8, maximumByteCount: 1 << 18, maximumMemberCount: 16_384)

  /// Parses a list.
  ///
  /// - Throws: ``MessageFailure``, also for two entries of one version: it is undefined which one counts.
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

  package var json: JSONObject {
    [
      "trustedFacets": .dictionaries(
        facets.map { ["version": .object($0.version.json), "ids": .strings($0.ids)] })
    ]
  }

  /// Returns the callers that may act for an application.
  ///
  /// - Parameters:
  ///   - appID: The `https` URL of the list.
  ///   - version: The version of the message.
  ///   - takesOlderVersions: True to use the entry of an earlier version if there is none of this one; most lists have 1.0
  ///     only.
  /// - Returns: The ids that follow the rules; others are left out.
  package func trusted(
    by appID: WebOrigin, version: UAFVersion, takesOlderVersions: Bool = false
  ) -> Set<String> {
    let entry =
      facets.first { $0.version == version }
      ?? (takesOlderVersions
        ? facets.filter { $0.version.major == version.major && $0.version < version }
          .max { $0.version < $1.version }
        : nil)
    return Set(
      (entry?.ids ?? []).filter { FacetID($0)?.isAllowed(by: appID) ?? false })
  }
}
