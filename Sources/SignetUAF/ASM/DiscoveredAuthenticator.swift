import SignetJSON

/// An authenticator in the form in which a client describes it to an app, with title, description and icon (UAF Application
/// API section 4.3).
package struct DiscoveredAuthenticator: Hashable, Sendable {
  package var supportedVersions: [UAFVersion]
  package var features: AuthenticatorFeatures

  /// Creates a description; a missing title or description is replaced by the model's AAID.
  package init(_ features: AuthenticatorFeatures, supportedVersions: [UAFVersion] = [.v1_1]) {
    self.supportedVersions = supportedVersions
    self.features = features
    self.features.title = features.title ?? features.aaid.text
    self.features.description = features.description ?? features.aaid.text
    self.features.icon = features.icon ?? ""
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    supportedVersions = try reader.list("supportedUAFVersions", maximum: 64) {
      value, path throws(MessageFailure) in
      try UAFVersion(DictionaryReader(value, path))
    }
    features = try AuthenticatorFeatures(reader)
    for (name, value) in [
      ("title", features.title), ("description", features.description), ("icon", features.icon),
    ]
    where value == nil {
      throw reader.failure(name, .missing)
    }
  }

  var json: JSONObject {
    var object: JSONObject = ["supportedUAFVersions": .dictionaries(supportedVersions.map(\.json))]
    features.write(to: &object)
    return object
  }
}
