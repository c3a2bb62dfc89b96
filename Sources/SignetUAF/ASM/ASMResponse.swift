import SignetCrypto
package import SignetJSON

/// The answer of an authenticator-specific module (UAF ASM API section 3.2).
package struct ASMResponse: Hashable, Sendable {
  /// The result of a successful operation.
  package enum Payload: Hashable, Sendable {
    case info([AuthenticatorInfo])
    case assertion([UInt8], scheme: String)
    case registrations([AppRegistration])
  }

  /// The code as received; ``ASMStatus`` lists the known ones.
  package let statusCode: UInt16
  package let payload: Payload?
  package let extensions: [UAFExtension]

  package init(_ status: ASMStatus, _ payload: Payload? = nil, extensions: [UAFExtension] = []) {
    statusCode = status.rawValue
    self.payload = payload
    self.extensions = extensions
  }

  /// The status; an unknown code counts as an error.
  package var status: ASMStatus { ASMStatus(rawValue: statusCode) ?? .error }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    statusCode = try reader.number("statusCode")
    extensions = try reader.extensions()
    guard let data = try reader.optionalDictionary("responseData") else {
      payload = nil
      return
    }
    if data.object.contains("Authenticators") {
      payload = .info(
        try data.list("Authenticators", minimum: 0, maximum: 256) { value, path throws(MessageFailure) in
          try AuthenticatorInfo(DictionaryReader(value, path))
        })
    } else if data.object.contains("appRegs") {
      payload = .registrations(
        try data.list("appRegs", minimum: 0) { value, path throws(MessageFailure) in
          try AppRegistration(DictionaryReader(value, path))
        })
    } else {
      payload = .assertion(
        try data.bytes("assertion", 1...4096), scheme: try data.string("assertionScheme", 1...64))
    }
  }

  package var json: JSONObject {
    var object: JSONObject = ["statusCode": .number(statusCode)]
    switch payload {
    case .info(let list):
      object["responseData"] = ["Authenticators": .dictionaries(list.map(\.json))]
    case .assertion(let bytes, let scheme):
      object["responseData"] = [
        "assertion": .string(Base64URL.encode(bytes)), "assertionScheme": .string(scheme),
      ]
    case .registrations(let list): object["responseData"] = ["appRegs": .dictionaries(list.map(\.json))]
    case nil: break
    }
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }
}

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
