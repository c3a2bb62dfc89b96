package import SignetJSON

/// A client's parsed, unverified answer to an authentication request.
package struct AuthenticationResponse: UAFProtocolMessage, Hashable {
  package static let operation = UAFOperation.authentication
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  package let finalChallenge: FinalChallenge
  package let assertions: [ResponseAssertion]

  package init(header: OperationHeader, finalChallenge: FinalChallenge, assertions: [ResponseAssertion]) {
    self.header = header
    self.finalChallenge = finalChallenge
    self.assertions = assertions
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    finalChallenge = try FinalChallenge(parsing: reader.string("fcParams", 0...32_768))
    assertions = try reader.assertions()
  }

  package var json: JSONObject {
    [
      "header": .object(header.json), "fcParams": .string(finalChallenge.text),
      "assertions": .dictionaries(assertions.map(\.json)),
    ]
  }
}
