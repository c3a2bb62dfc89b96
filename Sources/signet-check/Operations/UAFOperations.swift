import SignetJSON
import SignetUAF

/// FIDO UAF 1.1: the content of a response or an assertion, and the verification of its signature.
let uafOperations = [
  Operation(name: "uaf-verify") { request in
    let key = request.members.contains("publicKeyHex") ? try request.hex("publicKeyHex") : nil
    return try UAFReport.make(try request.uafInput(), publicKey: key, keyFormat: try request.uafKeyFormat())
  }
]

extension Request {
  /// Reads a response as text, array or object, or an assertion.
  fileprivate func uafInput() throws -> UAFReport.Input {
    switch (members["response"], try members.optionalString("assertionB64")) {
    case (.string(let text)?, nil): return .response(text)
    case (.array(let list)?, nil): return .response(JSONValue.array(list).text)
    case (.object(let object)?, nil): return .response(object.text)
    case (nil, let text?): return .assertion(text, finalChallenge: try members.optionalString("fcParams"))
    case (nil, nil): throw JSONFailure.missingMember("response")
    default: throw CheckFailure(invalid: "response", "give a text, and no assertionB64 beside it")
    }
  }

  fileprivate func uafKeyFormat() throws -> String? {
    switch members["keyFormat"] {
    case nil: nil
    case .integer(let number)?: String(number)
    default: try string("keyFormat")
    }
  }
}
