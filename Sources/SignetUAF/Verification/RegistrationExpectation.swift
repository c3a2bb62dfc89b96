/// The expected properties of a registration response.
package struct RegistrationExpectation: Sendable {
  package var context: ResponseContext
  package var policy: Policy
  /// The keys that are already registered, for any user.
  package var registered: Set<KeyReference>
  /// The time at which certificates must be valid, in seconds since 1970.
  package var unixTime: Int64

  /// Creates the expectation for the answer to a request.
  package init(
    _ request: RegistrationRequest, trustedFacets: Set<String>,
    channelBinding: ChannelBindingRule = .notChecked, models: AuthenticatorModels,
    registered: Set<KeyReference> = [], unixTime: Int64, knownExtensions: Set<String> = [],
    isStrict: Bool = false
  ) {
    context = ResponseContext(
      header: request.header, challenge: request.challenge, trustedFacets: trustedFacets,
      channelBinding: channelBinding, models: models, knownExtensions: knownExtensions, isStrict: isStrict)
    policy = request.policy
    self.registered = registered
    self.unixTime = unixTime
  }

  /// Parses and verifies a response.
  ///
  /// - Parameter text: The JSON text, UTF-8.
  /// - Throws: ``UAFRefusal`` with the status for the client.
  /// - Returns: The keys to store.
  package func verify(_ text: [UInt8]) throws(UAFRefusal) -> VerifiedRegistration {
    let response: RegistrationResponse
    do throws(MessageFailure) {
      response = try RegistrationResponse(parsing: text, versions: [context.header.version])
    } catch {
      throw .message(error)
    }
    return try verify(response)
  }

  /// Verifies a parsed response.
  package func verify(_ response: RegistrationResponse) throws(UAFRefusal) -> VerifiedRegistration {
    try context.check(response.header, response.finalChallenge.params)
    let hash = response.finalChallenge.hash
    var keys: [AttestedKey] = []
    var candidates: [Policy.Candidate] = []
    var refused: [RefusedAssertion] = []
    for item in response.assertions {
      var reference: KeyReference?
      do throws(AssertionRefusal) {
        let (key, candidate) = try verify(item, hash, &reference)
        guard !keys.contains(where: { $0.reference == key.reference }) else { throw .repeatedKey }
        keys.append(key)
        candidates.append(candidate)
      } catch {
        refused.append(RefusedAssertion(key: reference, reason: error))
      }
    }
    guard policy.firstCombination(of: candidates, knownExtensions: context.knownExtensions) != nil else {
      throw refused.isEmpty ? .policy : .assertions(refused)
    }
    return VerifiedRegistration(
      facetID: response.finalChallenge.params.facetID, appID: response.finalChallenge.params.appID,
      keys: keys, refused: refused)
  }

  private func verify(
    _ item: ResponseAssertion, _ hash: [UInt8], _ reference: inout KeyReference?
  ) throws(AssertionRefusal) -> (AttestedKey, Policy.Candidate) {
    try context.check(item)
    let assertion: RegistrationAssertion
    do throws(AssertionFailure) {
      assertion = try RegistrationAssertion(parsing: item.bytes, understood: context.knownExtensions)
    } catch {
      throw .malformed(error)
    }
    let data = assertion.data
    let key = KeyReference(aaid: data.aaid, keyID: data.keyID)
    reference = key
    let model = try context.model(data.aaid, scheme: item.scheme)
    let candidate = Policy.Candidate(
      model.traits(ofVersion: data.authenticatorVersion), keyIDs: [data.keyID],
      attestation: assertion.attestation.type)
    try policy.check(candidate, knownExtensions: context.knownExtensions)
    guard data.mode == AuthenticationMode.userVerified.rawValue else { throw .mode(data.mode) }
    guard data.finalChallengeHash == hash else { throw .finalChallengeHash }
    guard data.algorithm == model.statement.algorithm else { throw .algorithm(data.algorithm) }
    guard data.keyFormat == model.statement.keyFormat else { throw .keyFormat(data.keyFormat) }
    let publicKey: UAFPublicKey
    do throws(UAFKeyFailure) {
      publicKey = try UAFPublicKey(data.publicKey, format: data.keyFormat, for: data.algorithm)
    } catch {
      throw .publicKey(error)
    }
    try check(assertion, publicKey, model)
    guard !registered.contains(key) else { throw .keyExists }
    let attested = AttestedKey(
      reference: key, publicKey: publicKey, encodedKey: data.publicKey, algorithm: data.algorithm,
      keyFormat: data.keyFormat, signCounter: data.signCounter,
      registrationCounter: data.registrationCounter, authenticatorVersion: data.authenticatorVersion,
      attestation: assertion.attestation.type,
      isOutdated: data.authenticatorVersion < model.statement.authenticatorVersion,
      pngCharacteristics: item.pngCharacteristics, extensions: data.extensions)
    return (attested, candidate)
  }

  /// Verifies the attestation of the key.
  private func check(
    _ assertion: RegistrationAssertion, _ key: UAFPublicKey, _ model: AuthenticatorModel
  ) throws(AssertionRefusal) {
    try context.models.check(assertion.attestation, of: model, at: unixTime)
    let isSigned: Bool
    do throws(UAFKeyFailure) {
      isSigned = try assertion.isSigned(by: key, isStrict: context.isStrict)
    } catch {
      throw .attestationKey(error)
    }
    guard isSigned else { throw .attestationSignature }
  }
}
