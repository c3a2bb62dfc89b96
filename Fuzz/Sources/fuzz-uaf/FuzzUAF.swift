import LibFuzzer
import SignetCrypto
import SignetJSON
@testable import SignetIdentifiers
@testable import SignetUAF

@main struct FuzzUAF {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkElements(input)
    checkAssertions(input)
    checkCommands(input)
    checkVerification(input)
    checkMessages(input)
    checkRequests(input)
    checkLists(input)
    checkPicture(input)
    if let text = String(validating: input, as: UTF8.self) { checkTexts(text) }
  }

  /// A picture of any content: it is decoded within bounds, or rejected.
  private static func checkPicture(_ input: [UInt8]) {
    let look = DisplayPNGCharacteristics(width: 1, height: 1, bitDepth: 8, colourType: 0)
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let picture = UAFTransaction(contentType: .png, content: signature + input, pngCharacteristics: look)
    if let picture, picture.isShownAsItIs {
      require(picture.content.count >= 57, "a picture has a header, pixels and an end")
    }
  }

  // MARK: TLV

  private static func checkElements(_ input: [UInt8]) {
    var reader = TLVReader(input)
    var end = 0
    while true {
      let step = accepted { () throws(TLVFailure) in (try reader.next()).map { [$0] } ?? [] }
      guard let element = step?.first else {
        require(step == nil || end == input.count, "a reader stops at the end")
        return
      }
      require(
        element.whole.lowerBound == end && element.whole.upperBound <= input.count, "no gap, no overlap")
      require(element.content.upperBound == element.whole.upperBound, "the content ends the element")
      end = element.whole.upperBound
      _ = accepted { () throws(TLVFailure) in
        var inner = try reader.elements(of: element)
        while try inner.next() != nil {}
        return true
      }
    }
  }

  private static func checkAssertions(_ input: [UInt8]) {
    if let assertion = accepted({ () throws(AssertionFailure) in try RegistrationAssertion(parsing: input) })
    {
      require(assertion.bytes == input && assertion.signedRange.upperBound <= input.count, "nothing is lost")
      let again = RegistrationAssertion(
        assertion.data, assertion.attestation, unsignedExtensions: assertion.unsignedExtensions)
      checkAgain(again.bytes) { () throws(AssertionFailure) in
        let read = try RegistrationAssertion(parsing: again.bytes)
        return read.data == assertion.data && read.attestation == assertion.attestation
      }
    }
    if let assertion = accepted({ () throws(AssertionFailure) in try AuthenticationAssertion(parsing: input) }
    ) {
      require(assertion.bytes == input && assertion.signedRange.upperBound <= input.count, "nothing is lost")
      let again = AuthenticationAssertion(
        assertion.data, signature: assertion.signature, unsignedExtensions: assertion.unsignedExtensions)
      checkAgain(again.bytes) { () throws(AssertionFailure) in
        let read = try AuthenticationAssertion(parsing: again.bytes)
        return read.data == assertion.data && read.signature == assertion.signature
      }
    }
  }

  /// Extension IDs that are no UTF-8 become longer when they are written, and may then exceed the limit.
  private static func checkAgain(_ bytes: [UInt8], _ isSame: () throws(AssertionFailure) -> Bool) {
    do throws(AssertionFailure) {
      let isRead = try isSame()
      require(isRead, "what is written reads the same")
    } catch {
      switch error {
      case .byteCount, .length(.extensionID, _): break
      default: fatalError("property violated: what is written is read (\(error))")
      }
    }
  }

  private static func checkCommands(_ input: [UInt8]) {
    if let command = accepted({ () throws(AuthenticatorCommandFailure) in
      try AuthenticatorCommand(parsing: input)
    }) {
      let again = made("a command") { () throws(AuthenticatorCommandFailure) in
        try AuthenticatorCommand(parsing: command.encoded)
      }
      require(again == command, "what is written reads the same")
      require(AuthenticatorStatus.Command(beginningOf: input) != nil, "a command has a kind")
    }
    _ = accepted { () throws(AuthenticatorCommandFailure) in try AuthenticatorAnswer(parsing: input).encoded }
  }

  // MARK: Verification

  /// No seed is signed with it.
  private static let key = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](65...96)))
  }
  private static let reference = made("a key") { () throws(AssertionFailure) in
    guard let keyID = KeyID([UInt8](repeating: 7, count: 32)) else { throw .aaid }
    return KeyReference(aaid: AAID(vendor: 0xABCD, model: 0xABCD), keyID: keyID)
  }
  private static let models = made("models") { () throws(MessageFailure) in
    AuthenticatorModels([
      try AuthenticatorModel(
        MetadataStatement(
          aaid: reference.aaid, description: "d", authenticatorVersion: 1, algorithm: .p256RAW,
          keyFormat: .x962RAW, userVerificationDetails: [[.init(.passcode)]], keyProtection: .software,
          matcherProtection: .software))
    ])
  }
  private static let challenge = [UInt8](repeating: 1, count: 32)
  private static let policy = Policy(accepted: [[MatchCriteria(aaids: [reference.aaid])]])

  private static let facet = "ios:bundle-id:a"
  private static let authentication = AuthenticationExpectation(
    AuthenticationRequest(
      header: OperationHeader(operation: .authentication, appID: ""), challenge: challenge, policy: policy),
    trustedFacets: [facet], models: models,
    keys: [
      RegisteredKey(
        reference: reference, publicKey: .p256(key.publicKey), algorithm: .p256RAW, signCounter: 0)
    ])

  /// No input is signed with this key, and a registration would need a challenge that no seed has.
  private static func checkVerification(_ input: [UInt8]) {
    require(
      accepted { () throws(UAFRefusal) in try authentication.verify(input) } == nil,
      "nothing authenticates without the key")
    let registration = RegistrationExpectation(
      RegistrationRequest(
        header: OperationHeader(operation: .registration, appID: ""),
        challenge: [UInt8](repeating: 9, count: 32),
        username: "a", policy: policy), trustedFacets: [facet], models: models, unixTime: 0)
    require(
      accepted { () throws(UAFRefusal) in try registration.verify(input) } == nil,
      "nothing registers without the challenge")
    checkSigned(input)
    checkRegistered(input)
  }

  private static let registration = RegistrationExpectation(
    RegistrationRequest(
      header: OperationHeader(operation: .registration, appID: ""), challenge: challenge, username: "a",
      policy: policy), trustedFacets: [facet], models: models, unixTime: 0)

  /// A registration with any other content, for this challenge and with a self-signed key.
  ///
  /// Another one has the model's algorithm, format and mode, so that the later checks are reached.
  private static func checkRegistered(_ input: [UInt8]) {
    guard
      let read = accepted({ () throws(AssertionFailure) in try RegistrationAssertion(parsing: input) })
    else { return }
    checkRegistered(read, read.data, input)
    var data = read.data
    (data.mode, data.algorithm, data.keyFormat) = (
      AuthenticationMode.userVerified.rawValue, .p256RAW, .x962RAW
    )
    checkRegistered(read, data, input)
  }

  private static func checkRegistered(
    _ read: RegistrationAssertion, _ said: KeyRegistrationData, _ input: [UInt8]
  ) {
    let challenge = FinalChallenge(
      FinalChallengeParams(appID: facet, challenge: challenge, facetID: facet))
    var data = said
    (data.aaid, data.keyID, data.finalChallengeHash) = (reference.aaid, reference.keyID, challenge.hash)
    data.publicKey = key.publicKey.x963Representation
    let signature = made("a signature") { () throws(CryptoFailure) in try key.signature(for: data.encoded) }
      .rawRepresentation
    func verified(_ attestation: Attestation) -> VerifiedRegistration? {
      let assertion = RegistrationAssertion(
        data, attestation, unsignedExtensions: read.unsignedExtensions)
      let response = RegistrationResponse(
        header: OperationHeader(operation: .registration, appID: ""), finalChallenge: challenge,
        assertions: [ResponseAssertion(bytes: assertion.bytes)])
      let text = JSONValue.array([.object(response.json)]).bytes
      return accepted { () throws(UAFRefusal) in try registration.verify(text) }
    }
    require(verified(read.attestation) == nil, "nothing vouches for a key that has not signed")
    guard let made = verified(.basicSurrogate(signature: signature)) else { return }
    require(
      data.algorithm == .p256RAW && data.keyFormat == .x962RAW
        && data.mode == AuthenticationMode.userVerified.rawValue, "only what was asked is accepted")
    require(
      made.keys.map(\.reference) == [reference] && made.keys[0].signCounter == data.signCounter
        && made.keys[0].encodedKey == data.publicKey, "a key is what was signed")
    var changed = signature
    changed[input.count % changed.count] ^= 1
    require(verified(.basicSurrogate(signature: changed)) == nil, "a changed signature is found")
  }

  /// An assertion with any other content, for this challenge and signed with the key.
  private static func checkSigned(_ input: [UInt8]) {
    guard
      let read = accepted({ () throws(AssertionFailure) in try AuthenticationAssertion(parsing: input) })
    else { return }
    let challenge = FinalChallenge(
      FinalChallengeParams(appID: facet, challenge: challenge, facetID: facet))
    var data = read.data
    (data.aaid, data.keyID, data.finalChallengeHash) = (reference.aaid, reference.keyID, challenge.hash)
    let signature = made("a signature") { () throws(CryptoFailure) in try key.signature(for: data.encoded) }
      .rawRepresentation
    func verified(_ signature: [UInt8]) -> VerifiedAuthentication? {
      let assertion = AuthenticationAssertion(
        data, signature: signature, unsignedExtensions: read.unsignedExtensions)
      let response = AuthenticationResponse(
        header: OperationHeader(operation: .authentication, appID: ""), finalChallenge: challenge,
        assertions: [ResponseAssertion(bytes: assertion.bytes)])
      let text = JSONValue.array([.object(response.json)]).bytes
      return accepted { () throws(UAFRefusal) in try authentication.verify(text) }
    }
    guard let use = verified(signature) else { return }
    require(
      data.algorithm == .p256RAW && data.mode == AuthenticationMode.userVerified.rawValue
        && data.transactionHash.isEmpty, "only what was asked is accepted")
    require(use.uses.map(\.signCounter) == [data.signCounter], "a use is what was signed")
    var changed = signature
    changed[input.count % changed.count] ^= 1
    require(verified(changed) == nil, "a changed signature is found")
  }

  // MARK: Dictionaries

  private static func checkMessages(_ input: [UInt8]) {
    let limits = JSONLimits(maximumByteCount: 1 << 20)
    guard
      let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input, limits: limits) })
    else { return }
    roundTrip(object, RegistrationRequest.init(_:), \.json)
    roundTrip(object, RegistrationResponse.init(_:), \.json)
    roundTrip(object, AuthenticationRequest.init(_:), \.json)
    roundTrip(object, AuthenticationResponse.init(_:), \.json)
    roundTrip(object, DeregistrationRequest.init(_:), \.json)
    roundTrip(object, ASMRequest.init(_:), \.json)
    roundTrip(object, ASMResponse.init(_:), \.json)
    roundTrip(object, MetadataStatement.init(_:), \.json)
    roundTrip(input, MetadataStatement.init(parsing:), \.json)
    roundTrip(input, UAFMessage.init(parsing:), \.json)
    roundTrip(input, GetUAFRequest.init(parsing:), \.json)
    roundTrip(input, ReturnUAFRequest.init(parsing:), \.json)
    roundTrip(input, SendUAFResponse.init(parsing:), \.json)
    roundTrip(input, UAFServerResponse.init(parsing:), \.json)
    roundTrip(input, DiscoveryData.init(parsing:), \.json)
    if let statement = accepted({ () throws(MessageFailure) in try MetadataStatement(object) }) {
      _ = accepted { () throws(MessageFailure) in try AuthenticatorModel(statement).traits }
    }
    if let request = accepted({ () throws(MessageFailure) in try RegistrationRequest(object) }),
      let traits = models[reference.aaid]?.traits
    {
      let candidate = Policy.Candidate(traits, keyIDs: [reference.keyID])
      let found = request.policy.firstCombination(of: [candidate, candidate])
      require(found == nil || !request.policy.disallows(candidate), "what is disallowed is in no combination")
    }
  }

  /// A client's parsing of any server message, and the texts of it that would be shown.
  private static func checkRequests(_ input: [UInt8]) {
    guard
      let request = accepted({ () throws(MessageFailure) in try UAFRequestMessage(parsing: input) })
    else { return }
    require(request.header.version == .v1_1, "no other version is spoken")
    require(request.header.extensions.firstUnknown() == nil, "what has to be known is known")
    guard case .authentication(let authentication) = request else { return }
    let shown = UAFTransaction.shown(of: authentication.transactions)
    require(shown.map(authentication.transactions.contains) ?? true, "what is shown was sent")
    if let shown, shown.contentType == .text {
      require(!shown.content.contains(0x1B) && !shown.content.contains(0x08), "no text moves another about")
    }
  }

  private static func roundTrip<Value: Equatable>(
    _ object: JSONObject, _ read: (JSONObject) throws(MessageFailure) -> Value,
    _ write: (Value) -> JSONObject
  ) {
    guard let value = accepted({ () throws(MessageFailure) in try read(object) }) else { return }
    let again = made("what is written") { () throws(MessageFailure) in try read(write(value)) }
    require(again == value, "what is written reads the same")
  }

  private static func roundTrip<Value: Equatable>(
    _ bytes: [UInt8], _ read: ([UInt8]) throws(MessageFailure) -> Value, _ write: (Value) -> JSONObject
  ) {
    guard let value = accepted({ () throws(MessageFailure) in try read(bytes) }) else { return }
    let again = made("what is written") { () throws(MessageFailure) in try read(write(value).bytes) }
    require(again == value, "what is written reads the same")
  }

  // MARK: Lists and texts

  private static func checkLists(_ input: [UInt8]) {
    guard
      let list = accepted({ () throws(MessageFailure) in try TrustedFacetList(parsing: input) }),
      let origin = WebOrigin("https://uaf.example.com/facets")
    else { return }
    let again = made("a list") { () throws(MessageFailure) in try TrustedFacetList(parsing: list.json.bytes) }
    require(again == list, "what is written reads the same")
    for takesOlder in [false, true] {
      let trusted = list.trusted(by: origin, version: .v1_1, takesOlderVersions: takesOlder)
      for id in trusted {
        guard case .web(let page)? = FacetID(id) else { continue }
        require(".\(page.host)".hasSuffix(".example.com"), "no page of another domain")
      }
    }
  }

  private static func checkTexts(_ text: String) {
    if let key = accepted({ () throws(MessageFailure) in try ChannelIDKey(parsing: text) }) {
      let again = made("a key") { () throws(MessageFailure) in try ChannelIDKey(parsing: key.text) }
      require(again == key, "what is written reads the same")
    }
    if let id = KeyID(text: text) {
      require(KeyID(text: id.text) == id, "printing an id loses nothing")
    }
    if let aaid = AAID(text) { require(AAID(vendor: aaid.vendor, model: aaid.model) == aaid, "one number") }
    if let origin = WebOrigin(text, isOriginOnly: true) {
      require(WebOrigin(origin.description) == origin, "an origin has one form")
    }
    _ = FacetDecision(appID: text, facetID: "ios:bundle-id:a")
    if let challenge = accepted({ () throws(MessageFailure) in try FinalChallenge(parsing: text) }) {
      require(challenge.text.utf8.elementsEqual(text.utf8), "what is hashed is what came")
    }
    for key in [nil, [0x04] + [UInt8](repeating: 1, count: 64)] as [[UInt8]?] {
      _ = accepted { () throws(UAFReport.Failure) in try UAFReport.make(.response(text), publicKey: key) }
      _ = accepted { () throws(UAFReport.Failure) in
        try UAFReport.make(.assertion(text, finalChallenge: text), publicKey: key)
      }
    }
  }
}
