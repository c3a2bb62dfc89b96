package import SignetJSON

/// A request to an authenticator-specific module (UAF ASM API section 3.1).
package struct ASMRequest: Hashable, Sendable {
  /// The operation with its arguments.
  package enum Call: Hashable, Sendable {
    case getInfo
    case register(appID: String, username: String, finalChallenge: String, attestationType: AttestationType)
    case authenticate(appID: String, keyIDs: [KeyID], finalChallenge: String, transactions: [UAFTransaction])
    /// With `nil` as the key, all keys of the application.
    case deregister(appID: String, keyID: KeyID?)
    case getRegistrations
    case openSettings
  }

  package let version: UAFVersion
  /// The authenticator; `nil` for ``Call/getInfo`` only.
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
