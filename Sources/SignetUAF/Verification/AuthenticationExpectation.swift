/// The expected properties of an authentication response.
package struct AuthenticationExpectation: Sendable {
  package var context: ResponseContext
  package var policy: Policy
  package var transactions: [UAFTransaction]
  /// The registered keys of the user to authenticate.
  package var keys: [KeyReference: RegisteredKey]

  /// Creates the expectation for the answer to a request.
  package init(
    _ request: AuthenticationRequest, trustedFacets: Set<String>,
    channelBinding: ChannelBindingRule = .notChecked, models: AuthenticatorModels,
    keys: some Sequence<RegisteredKey>, knownExtensions: Set<String> = [], isStrict: Bool = false
  ) {
    context = ResponseContext(
      header: request.header, challenge: request.challenge, trustedFacets: trustedFacets,
      channelBinding: channelBinding, models: models, knownExtensions: knownExtensions, isStrict: isStrict)
    policy = request.policy
    transactions = request.transactions
    self.keys = Dictionary(keys.map { ($0.reference, $0) }) { $1 }
  }

  /// Parses and verifies a response.
  ///
  /// - Parameter text: The JSON text, UTF-8.
  /// - Throws: ``UAFRefusal`` with the status for the client.
  /// - Returns: The keys that were used.
  package func verify(_ text: [UInt8]) throws(UAFRefusal) -> VerifiedAuthentication {
    try verify(
      ClaimedAuthentication(
        parsing: text, versions: [context.header.version], knownExtensions: context.knownExtensions))
  }

  /// Verifies a parsed response.
  package func verify(_ claimed: ClaimedAuthentication) throws(UAFRefusal) -> VerifiedAuthentication {
    let response = claimed.response
    try context.check(response.header, response.finalChallenge.params)
    let hash = response.finalChallenge.hash
    var uses: [VerifiedAssertion] = []
    var candidates: [Policy.Candidate] = []
    var refused: [RefusedAssertion] = []
    for (item, claim) in zip(response.assertions, claimed.assertions) {
      let assertion: AuthenticationAssertion
      switch claim {
      case .assertion(let parsed): assertion = parsed
      case .refused(let reason):
        refused.append(RefusedAssertion(key: nil, reason: reason))
        continue
      }
      let reference = KeyReference(aaid: assertion.data.aaid, keyID: assertion.data.keyID)
      do throws(AssertionRefusal) {
        let (use, candidate) = try verify(item, assertion, reference, hash)
        guard !uses.contains(where: { $0.reference == reference }) else { throw .repeatedKey }
        uses.append(use)
        candidates.append(candidate)
      } catch {
        refused.append(RefusedAssertion(key: reference, reason: error))
      }
    }
    guard policy.firstCombination(of: candidates, knownExtensions: context.knownExtensions) != nil else {
      throw refused.isEmpty ? .policy : .assertions(refused)
    }
    return VerifiedAuthentication(
      facetID: response.finalChallenge.params.facetID, uses: uses, refused: refused)
  }

  private func verify(
    _ item: ResponseAssertion, _ assertion: AuthenticationAssertion, _ reference: KeyReference,
    _ hash: [UInt8]
  ) throws(AssertionRefusal) -> (VerifiedAssertion, Policy.Candidate) {
    try context.check(item)
    let data = assertion.data
    let model = try context.model(data.aaid, scheme: item.scheme)
    let candidate = Policy.Candidate(
      model.traits(ofVersion: data.authenticatorVersion), keyIDs: [data.keyID])
    // An unknown key is reported before the policy, which lists known keys only: the client then deletes the key.
    guard let key = keys[reference] else { throw .unknownKey }
    try policy.check(candidate, knownExtensions: context.knownExtensions)
    let transaction = try key.verify(
      assertion, finalChallengeHash: hash, confirming: transactions, isStrict: context.isStrict)
    let use = VerifiedAssertion(
      reference: reference, assertion: assertion.bytes, signCounter: data.signCounter,
      transaction: transaction,
      isOutdated: data.authenticatorVersion < model.statement.authenticatorVersion,
      extensions: data.extensions)
    return (use, candidate)
  }
}
