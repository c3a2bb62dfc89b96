package import SignetJSON

/// An authenticator as its module describes it (UAF ASM API section 3.5).
package struct AuthenticatorInfo: Hashable, Sendable {
  package var index: UInt16
  package var asmVersions: [UAFVersion]
  package var isUserEnrolled: Bool
  package var hasSettings: Bool
  package var isRoaming: Bool
  package var features: AuthenticatorFeatures

  /// Creates the description of a built-in authenticator.
  package init(_ features: AuthenticatorFeatures, index: UInt16, isUserEnrolled: Bool) {
    self.features = features
    self.index = index
    self.isUserEnrolled = isUserEnrolled
    asmVersions = [.v1_1]
    (hasSettings, isRoaming) = (false, false)
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    index = try reader.number("authenticatorIndex")
    asmVersions = try reader.list("asmVersions", maximum: 64) { value, path throws(MessageFailure) in
      try UAFVersion(DictionaryReader(value, path))
    }
    isUserEnrolled = try reader.bool("isUserEnrolled")
    hasSettings = try reader.bool("hasSettings")
    isRoaming = try reader.bool("isRoamingAuthenticator")
    features = try AuthenticatorFeatures(reader)
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "authenticatorIndex": .number(index), "asmVersions": .dictionaries(asmVersions.map(\.json)),
      "isUserEnrolled": .bool(isUserEnrolled), "hasSettings": .bool(hasSettings),
      "isRoamingAuthenticator": .bool(isRoaming),
    ]
    features.write(to: &object)
    return object
  }
}
