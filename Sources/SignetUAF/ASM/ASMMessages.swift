import SignetCrypto
package import SignetJSON

/// What an authenticator-specific module is asked (UAF ASM API section 3.1).
package struct ASMRequest: Hashable, Sendable {
  /// What is asked, with its arguments.
  package enum Call: Hashable, Sendable {
    case getInfo
    case register(appID: String, username: String, finalChallenge: String, attestationType: AttestationType)
    case authenticate(appID: String, keyIDs: [KeyID], finalChallenge: String, transactions: [UAFTransaction])
    /// Without a key: all of the application.
    case deregister(appID: String, keyID: KeyID?)
    case getRegistrations
    case openSettings
  }

  package let version: UAFVersion
  /// Which authenticator; nil for ``Call/getInfo`` alone.
  package let authenticatorIndex: UInt16?
  package let call: Call
  package let extensions: [UAFExtension]

  package init(
    _ call: Call, version: UAFVersion = .v1_1, authenticatorIndex: UInt16?, extensions: [UAFExtension] = []
  ) {
    self.call = call
    self.version = version
    self.authenticatorIndex = authenticatorIndex
    self.extensions = extensions
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    let name = try reader.string("requestType", 1...32)
    version = try UAFVersion(reader.dictionary("asmVersion"))
    authenticatorIndex = try reader.optionalNumber("authenticatorIndex")
    guard (authenticatorIndex == nil) == (name == "GetInfo") else {
      throw reader.failure("authenticatorIndex", authenticatorIndex == nil ? .missing : .conflict)
    }
    extensions = try reader.extensions()
    switch name {
    case "GetInfo": call = .getInfo
    case "GetRegistrations": call = .getRegistrations
    case "OpenSettings": call = .openSettings
    case "Register":
      let arguments = try reader.dictionary("args")
      call = .register(
        appID: try arguments.string("appID", 1...512), username: try arguments.string("username", 1...128),
        finalChallenge: try arguments.string("finalChallenge", 1...32_768),
        attestationType: AttestationType(rawValue: try arguments.number("attestationType")))
    case "Authenticate":
      let arguments = try reader.dictionary("args")
      call = .authenticate(
        appID: try arguments.string("appID", 1...512),
        keyIDs: try arguments.optionalList("keyIDs", minimum: 0) { value, path throws(MessageFailure) in
          try DictionaryReader.keyID(value, path)
        } ?? [], finalChallenge: try arguments.string("finalChallenge", 1...32_768),
        transactions: try arguments.optionalList("transaction", maximum: 16) {
          value, path throws(MessageFailure) in
          try UAFTransaction(DictionaryReader(value, path))
        } ?? [])
    case "Deregister":
      let arguments = try reader.dictionary("args")
      let keyID = try arguments.string("keyID", 0...2732)
      call = .deregister(
        appID: try arguments.string("appID", 1...512),
        keyID: keyID.isEmpty ? nil : try DictionaryReader.keyID(.string(keyID), "args.keyID"))
    default: throw reader.failure("requestType", .value)
    }
  }

  package var json: JSONObject {
    var object: JSONObject = ["requestType": .string(name), "asmVersion": .object(version.json)]
    object.setOptional("authenticatorIndex", authenticatorIndex.map { .number($0) })
    object.setOptional("args", arguments.map { .object($0) })
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }

  private var name: String {
    switch call {
    case .getInfo: "GetInfo"
    case .register: "Register"
    case .authenticate: "Authenticate"
    case .deregister: "Deregister"
    case .getRegistrations: "GetRegistrations"
    case .openSettings: "OpenSettings"
    }
  }

  private var arguments: JSONObject? {
    switch call {
    case .getInfo, .getRegistrations, .openSettings: return nil
    case .register(let appID, let username, let finalChallenge, let attestationType):
      return [
        "appID": .string(appID), "username": .string(username), "finalChallenge": .string(finalChallenge),
        "attestationType": .number(attestationType.rawValue),
      ]
    case .authenticate(let appID, let keyIDs, let finalChallenge, let transactions):
      var object: JSONObject = ["appID": .string(appID)]
      if !keyIDs.isEmpty { object["keyIDs"] = .strings(keyIDs.map(\.text)) }
      object["finalChallenge"] = .string(finalChallenge)
      if !transactions.isEmpty { object["transaction"] = .dictionaries(transactions.map(\.json)) }
      return object
    case .deregister(let appID, let keyID):
      return ["appID": .string(appID), "keyID": .string(keyID?.text ?? "")]
    }
  }
}

/// What an authenticator-specific module answers (UAF ASM API section 3.2).
package struct ASMResponse: Hashable, Sendable {
  /// What comes with success.
  package enum Payload: Hashable, Sendable {
    case info([AuthenticatorInfo])
    case assertion([UInt8], scheme: String)
    case registrations([AppRegistration])
  }

  /// As it was sent; ``ASMStatus`` names those that are known.
  package let statusCode: UInt16
  package let payload: Payload?
  package let extensions: [UAFExtension]

  package init(_ status: ASMStatus, _ payload: Payload? = nil, extensions: [UAFExtension] = []) {
    (statusCode, self.payload, self.extensions) = (status.rawValue, payload, extensions)
  }

  /// The status; one that is not known counts as an error.
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

/// Ties a key to the app that made it, on the device (UAF ASM API section 6.1).
package enum KeyHandleAccessToken {
  /// The token for an authenticator that is part of the device.
  ///
  /// - Parameters:
  ///   - appID: The application.
  ///   - asmToken: A random secret of the installation.
  ///   - personaID: Who uses the device; empty where it has one user.
  ///   - callerID: The app, as the system names it.
  /// - Returns: 32 bytes.
  package static func bound(
    appID: String, asmToken: [UInt8], personaID: String, callerID: String
  ) -> [UInt8] {
    HashFunction.sha256.digest(
      of: Array(appID.utf8) + asmToken + Array(personaID.utf8) + Array(callerID.utf8))
  }

  /// The token for an authenticator that moves between devices.
  package static func roaming(appID: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(appID.utf8))
  }
}
