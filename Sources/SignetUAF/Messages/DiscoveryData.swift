package import SignetJSON

/// A client's description of itself (UAF Application API section 4.2).
package struct DiscoveryData: Hashable, Sendable {
  package let supportedVersions: [UAFVersion]
  package let clientVendor: String
  package let clientVersion: UAFVersion
  package let availableAuthenticators: [DiscoveredAuthenticator]

  package init(
    supportedVersions: [UAFVersion] = [.v1_1], clientVendor: String, clientVersion: UAFVersion,
    availableAuthenticators: [DiscoveredAuthenticator]
  ) {
    self.supportedVersions = supportedVersions
    self.clientVendor = clientVendor
    self.clientVersion = clientVersion
    self.availableAuthenticators = availableAuthenticators
  }

  package init(parsing text: [UInt8]) throws(MessageFailure) {
    let reader = try DictionaryReader(body: text)
    supportedVersions = try reader.list("supportedUAFVersions", maximum: 64) {
      value, path throws(MessageFailure) in
      try UAFVersion(DictionaryReader(value, path))
    }
    clientVendor = try reader.string("clientVendor", 1...4096)
    clientVersion = try UAFVersion(reader.dictionary("clientVersion"))
    availableAuthenticators = try reader.list("availableAuthenticators", minimum: 0, maximum: 256) {
      value, path throws(MessageFailure) in
      try DiscoveredAuthenticator(DictionaryReader(value, path))
    }
  }

  package var json: JSONObject {
    [
      "supportedUAFVersions": .dictionaries(supportedVersions.map(\.json)),
      "clientVendor": .string(clientVendor), "clientVersion": .object(clientVersion.json),
      "availableAuthenticators": .dictionaries(availableAuthenticators.map(\.json)),
    ]
  }
}
