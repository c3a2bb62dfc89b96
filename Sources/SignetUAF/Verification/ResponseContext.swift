/// The expected properties that registration and authentication responses share.
package struct ResponseContext: Sendable {
  /// The header of the request.
  package var header: OperationHeader
  /// The challenge of the request.
  package var challenge: [UInt8]
  /// The trusted callers of the application, as exact facet ids.
  package var trustedFacets: Set<String>
  package var channelBinding: ChannelBindingRule
  package var models: AuthenticatorModels
  /// The ids of extensions that the caller evaluates.
  package var knownExtensions: Set<String>
  /// True to require minimal DER integers in signatures.
  package var isStrict: Bool

  package init(
    header: OperationHeader, challenge: [UInt8], trustedFacets: Set<String>,
    channelBinding: ChannelBindingRule = .notChecked, models: AuthenticatorModels,
    knownExtensions: Set<String> = [], isStrict: Bool = false
  ) {
    self.header = header
    self.challenge = challenge
    self.trustedFacets = trustedFacets
    self.channelBinding = channelBinding
    self.models = models
    self.knownExtensions = knownExtensions
    self.isStrict = isStrict
  }

  /// Verifies everything except the assertions.
  func check(_ response: OperationHeader, _ params: FinalChallengeParams) throws(UAFRefusal) {
    guard response.version == header.version else { throw .message(.unsupportedVersion) }
    if let unknown = response.extensions.firstUnknown(except: knownExtensions) {
      throw .message(.unknownExtension(unknown.id))
    }
    guard Self.isSame(response.serverData ?? "", header.serverData ?? "") else { throw .serverData }
    let (requestedAppID, responseAppID) = (header.appID ?? "", response.appID ?? "")
    if requestedAppID.isEmpty {
      // A client may leave the appID empty, or write the one that it chose: the caller's facet id.
      guard Self.isSame(params.appID, params.facetID),
        responseAppID.isEmpty || Self.isSame(responseAppID, params.appID)
      else { throw .appID }
    } else {
      guard Self.isSame(responseAppID, requestedAppID), Self.isSame(params.appID, requestedAppID) else {
        throw .appID
      }
    }
    guard params.facetID.utf8.allSatisfy({ $0 < 0x80 }), trustedFacets.contains(params.facetID) else {
      throw .facetID
    }
    guard channelBinding.accepts(params.channelBinding) else { throw .channelBinding }
    guard params.challenge == challenge else { throw .challenge }
  }

  /// Compares byte for byte.
  ///
  /// `==` treats canonically equivalent texts as equal. For text that is not ASCII, its time grows with the square of the
  /// length.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }

  /// Returns the claimed model of an assertion.
  func model(_ aaid: AAID, scheme: String) throws(AssertionRefusal) -> AuthenticatorModel {
    guard let model = models[aaid] else { throw .unknownModel(aaid) }
    guard model.statement.assertionScheme == scheme else { throw .scheme }
    return model
  }

  /// Verifies the scheme and the unsigned extensions of an assertion.
  func check(_ item: ResponseAssertion) throws(AssertionRefusal) {
    guard item.scheme == ResponseAssertion.tlvScheme else { throw .scheme }
    if let unknown = item.extensions.firstUnknown(except: knownExtensions) {
      throw .unknownExtension(unknown.id)
    }
  }
}

extension Policy {
  /// Verifies that at least one criterion accepts a candidate and its attestation.
  func check(_ candidate: Candidate, knownExtensions: Set<String>) throws(AssertionRefusal) {
    guard !disallows(candidate, knownExtensions: knownExtensions) else {
      throw .notInPolicy(candidate.traits.aaid)
    }
    var isPreferenceViolated = false
    for criterion in accepted.joined()
    where criterion.matches(
      candidate.traits, keyIDs: candidate.keyIDs, knownExtensions: knownExtensions)
    {
      if criterion.prefersAttestation(of: candidate) { return }
      isPreferenceViolated = true
    }
    if isPreferenceViolated, let attestation = candidate.attestation {
      throw .attestationPreference(attestation)
    }
    throw .notInPolicy(candidate.traits.aaid)
  }
}
