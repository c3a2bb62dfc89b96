import SignetCrypto
import SignetJSON
import SignetUAF

/// FIDO UAF 1.1: what a response or an assertion says, and whether it is signed.
let uafOperations = [
  Operation(name: "uaf-verify") { request in
    let key = try request.uafKey()
    let inspection: Inspection
    switch (try request.uafResponse(), try request.members.optionalString("assertionB64")) {
    case (let response?, nil): inspection = try Inspection(response: response, key: key)
    case (nil, let text?):
      guard let bytes = Base64URL.decodePadded(text) else {
        throw CheckFailure(invalid: "assertionB64", "is not base64url")
      }
      inspection = try Inspection(
        assertion: bytes, finalChallenge: try request.members.optionalString("fcParams"), key: key)
    default: throw CheckFailure(invalid: "response", "give either response or assertionB64")
    }
    var result = inspection.assertions[0].checkMembers
    result["kind"] = .string(inspection.kind.rawValue)
    result["acceptable"] = .bool(inspection.objections.isEmpty)
    result["objections"] = .array(inspection.objections.map { .string($0) })
    if inspection.assertions.count > 1 {
      result["assertions"] = .array(inspection.assertions.map { .object($0.checkMembers) })
    }
    return result
  }
]

extension Request {
  /// The response as text; an array or object in place is taken as well.
  fileprivate func uafResponse() throws -> String? {
    switch members["response"] {
    case nil: nil
    case .string(let text)?: text
    case .array(let list)?: JSONValue.array(list).text
    case .object(let object)?: object.text
    default: throw CheckFailure(invalid: "response", "use a string")
    }
  }

  fileprivate func uafKey() throws -> InspectionKey? {
    guard members.contains("publicKeyHex") else { return nil }
    let bytes = try hex("publicKeyHex")
    switch members["keyFormat"] {
    case nil: return InspectionKey(bytes)
    case .integer(let number)?:
      guard let number = UInt16(exactly: number) else { break }
      return InspectionKey(bytes, format: UAFKeyFormat(rawValue: number))
    case .string(let text)?:
      guard let format = UAFKeyFormat(named: text) else { break }
      return InspectionKey(bytes, format: format)
    default: break
    }
    throw CheckFailure(invalid: "keyFormat", "use a number of the registry, such as 0x0100, or its name")
  }
}

extension AssertionInspection {
  /// What an answer says about one assertion.
  fileprivate var checkMembers: JSONObject {
    var object = JSONObject()
    switch content {
    case .registration(let assertion):
      let data = assertion.data
      object = [
        "aaid": .string(data.aaid.text), "keyIDB64": .string(data.keyID.text),
        "signatureAlgorithm": .string(data.algorithm.rawValue.registryHex),
        "publicKeyFormat": .string(data.keyFormat.rawValue.registryHex),
        "finalChallengeHashHex": .string(Hex.encode(data.finalChallengeHash)),
        "signCounter": .integer(Int64(data.signCounter)),
        "regCounter": .integer(Int64(data.registrationCounter)),
        "authenticatorVersion": .integer(Int64(data.authenticatorVersion)),
        "authenticationMode": .integer(Int64(data.mode)), "publicKeyHex": .string(Hex.encode(data.publicKey)),
        "attestation": .string(assertion.attestation.type.name ?? ""),
        "attestationTag": .string(assertion.attestation.type.rawValue.registryHex),
      ]
    case .authentication(let assertion):
      let data = assertion.data
      object = [
        "aaid": .string(data.aaid.text), "keyIDB64": .string(data.keyID.text),
        "signatureAlgorithm": .string(data.algorithm.rawValue.registryHex),
        "finalChallengeHashHex": .string(Hex.encode(data.finalChallengeHash)),
        "signCounter": .integer(Int64(data.signCounter)),
        "authenticatorVersion": .integer(Int64(data.authenticatorVersion)),
        "authenticationMode": .integer(Int64(data.mode)), "nonceHex": .string(Hex.encode(data.nonce)),
        "transactionHashHex": .string(Hex.encode(data.transactionHash)),
      ]
    }
    if let finalChallengeMatches { object["finalChallengeMatches"] = .bool(finalChallengeMatches) }
    if let isSignatureValid { object["signatureValid"] = .bool(isSignatureValid) }
    return object
  }
}
