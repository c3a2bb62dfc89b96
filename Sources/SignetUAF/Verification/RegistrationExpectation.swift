import SignetCrypto

/// What a registration response is held against.
package struct RegistrationExpectation: Sendable {
  package var context: ResponseContext
  package var policy: Policy
  /// Keys that are registered already, of whomever.
  package var registered: Set<KeyReference>
  /// When certificates have to be valid, in seconds since 1970.
  package var unixTime: Int64

  /// Expects the answer to a request.
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

  /// Reads and verifies a response.
  ///
  /// - Parameter text: The JSON text, UTF-8.
  /// - Throws: ``UAFRefusal``, which has the status that the client gets.
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

  /// Verifies a response that was read.
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
        guard !keys.contains(where: { $0.reference == key.reference }) else { throw .keyExists }
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
      model.traits, keyIDs: [data.keyID], attestation: assertion.attestation.type)
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

  /// Checks who vouches for the key.
  private func check(
    _ assertion: RegistrationAssertion, _ key: UAFPublicKey, _ model: AuthenticatorModel
  ) throws(AssertionRefusal) {
    try model.check(assertion.attestation, at: unixTime)
    do throws(UAFKeyFailure) {
      guard try assertion.isSigned(by: key, isStrict: context.isStrict) else {
        throw UAFKeyFailure.key(.authenticationFailed)
      }
    } catch {
      if case .key(.authenticationFailed) = error { throw .attestationSignature }
      throw .attestationKey(error)
    }
  }
}

/// A registration response that holds; only verifying makes one.
package struct VerifiedRegistration: Sendable {
  /// Who called the client.
  package let facetID: String
  /// The application that the keys are for.
  package let appID: String
  /// The keys to store, at least one.
  package let keys: [AttestedKey]
  /// Assertions that were left out.
  package let refused: [RefusedAssertion]

  init(facetID: String, appID: String, keys: [AttestedKey], refused: [RefusedAssertion]) {
    (self.facetID, self.appID, self.keys, self.refused) = (facetID, appID, keys, refused)
  }
}

/// A new key that its authenticator vouches for; only verifying makes one.
package struct AttestedKey: Sendable {
  package let reference: KeyReference
  package let publicKey: UAFPublicKey
  /// The key as the authenticator wrote it.
  package let encodedKey: [UInt8]
  package let algorithm: UAFAlgorithm
  package let keyFormat: UAFKeyFormat
  package let signCounter: UInt32
  package let registrationCounter: UInt32
  package let authenticatorVersion: UInt16
  /// How it was vouched for; a surrogate proves possession of the key and nothing about the model.
  package let attestation: AttestationType
  /// Whether the authenticator is older than what its metadata describes, which is a risk.
  package let isOutdated: Bool
  package let pngCharacteristics: [DisplayPNGCharacteristics]
  /// What the authenticator signed beyond the protocol.
  package let extensions: [AssertionExtension]

  init(
    reference: KeyReference, publicKey: UAFPublicKey, encodedKey: [UInt8], algorithm: UAFAlgorithm,
    keyFormat: UAFKeyFormat, signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16,
    attestation: AttestationType, isOutdated: Bool, pngCharacteristics: [DisplayPNGCharacteristics],
    extensions: [AssertionExtension]
  ) {
    self.reference = reference
    self.publicKey = publicKey
    self.encodedKey = encodedKey
    self.algorithm = algorithm
    self.keyFormat = keyFormat
    self.signCounter = signCounter
    self.registrationCounter = registrationCounter
    self.authenticatorVersion = authenticatorVersion
    self.attestation = attestation
    self.isOutdated = isOutdated
    self.pngCharacteristics = pngCharacteristics
    self.extensions = extensions
  }

  /// What later authentications are held against.
  package var registered: RegisteredKey {
    RegisteredKey(reference: reference, publicKey: publicKey, algorithm: algorithm, signCounter: signCounter)
  }
}
