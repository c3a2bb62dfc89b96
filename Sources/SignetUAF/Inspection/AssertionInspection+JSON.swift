import SignetCrypto
package import SignetJSON

extension AssertionInspection {
  /// The content of the assertion; docs/signet-check.md lists the members.
  package var json: JSONObject {
    var object: JSONObject
    switch content {
    case .registration(let assertion):
      let data = assertion.data
      object = [
        "aaid": .string(data.aaid.text), "keyIDB64": .string(data.keyID.text),
        "signatureAlgorithm": .string(data.algorithm.rawValue.registryHex),
        "publicKeyFormat": .string(data.keyFormat.rawValue.registryHex),
        "finalChallengeHashHex": .string(Hex.encode(data.finalChallengeHash)),
        "signCounter": .number(data.signCounter), "regCounter": .number(data.registrationCounter),
        "authenticatorVersion": .number(data.authenticatorVersion), "authenticationMode": .number(data.mode),
        "publicKeyHex": .string(Hex.encode(data.publicKey)),
        "attestation": .string(assertion.attestation.type.name ?? ""),
        "attestationTag": .string(assertion.attestation.type.rawValue.registryHex),
      ]
      if case .basicFull(_, let certificates) = assertion.attestation {
        object["attestationCertificates"] = .number(certificates.count)
      }
    case .authentication(let assertion):
      let data = assertion.data
      object = [
        "aaid": .string(data.aaid.text), "keyIDB64": .string(data.keyID.text),
        "signatureAlgorithm": .string(data.algorithm.rawValue.registryHex),
        "finalChallengeHashHex": .string(Hex.encode(data.finalChallengeHash)),
        "signCounter": .number(data.signCounter),
        "authenticatorVersion": .number(data.authenticatorVersion), "authenticationMode": .number(data.mode),
        "nonceHex": .string(Hex.encode(data.nonce)),
        "transactionHashHex": .string(Hex.encode(data.transactionHash)),
      ]
    }
    object.setOptional("finalChallengeMatches", finalChallengeMatches.map { .bool($0) })
    object.setOptional("signatureValid", isSignatureValid.map { .bool($0) })
    return object
  }
}
