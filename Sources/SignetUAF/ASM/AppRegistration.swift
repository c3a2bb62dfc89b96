import SignetJSON

/// The keys of one application in an authenticator.
package struct AppRegistration: Hashable, Sendable {
  package let appID: String
  package let keyIDs: [KeyID]

  package init(appID: String, keyIDs: [KeyID]) { (self.appID, self.keyIDs) = (appID, keyIDs) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    appID = try reader.string("appID", 1...512)
    keyIDs = try reader.list("keyIDs", minimum: 0) { value, path throws(MessageFailure) in
      try DictionaryReader.keyID(value, path)
    }
  }

  var json: JSONObject { ["appID": .string(appID), "keyIDs": .strings(keyIDs.map(\.text))] }
}
