package import SignetJSON

/// Which authenticators a server takes.
package struct Policy: Hashable, Sendable {
  /// The combinations that will do, in the server's order of preference; all criteria of one have to be met, each by an
  /// authenticator of its own.
  package var accepted: [[MatchCriteria]]
  /// What will not do, whatever else it matches.
  package var disallowed: [MatchCriteria]

  package init(accepted: [[MatchCriteria]], disallowed: [MatchCriteria] = []) {
    (self.accepted, self.disallowed) = (accepted, disallowed)
  }

  /// Reads a policy that stands by itself.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    accepted = try reader.list("accepted") { value, path throws(MessageFailure) in
      try DictionaryReader.list(value, path, minimum: 1, maximum: 16) { value, path throws(MessageFailure) in
        try MatchCriteria(DictionaryReader(value, path))
      }
    }
    // An empty list disallows nothing, as no list does.
    disallowed =
      try reader.optionalList("disallowed", minimum: 0, maximum: 4096) { value, path throws(MessageFailure) in
        try MatchCriteria(DictionaryReader(value, path))
      } ?? []
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "accepted": .array(accepted.map { .dictionaries($0.map(\.json)) })
    ]
    if !disallowed.isEmpty { object["disallowed"] = .dictionaries(disallowed.map(\.json)) }
    return object
  }

  /// Whether a server may send it.
  package var isWellFormed: Bool {
    !accepted.isEmpty && accepted.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isWellFormed) }
      && disallowed.allSatisfy(\.isWellFormed)
  }

  /// An authenticator with the keys that it would be used with.
  package struct Candidate: Hashable, Sendable {
    package var traits: AuthenticatorTraits
    /// Nil where keys do not matter, as when a new one is to be made.
    package var keyIDs: [KeyID]?
    /// How it did attest; nil where it did not yet.
    package var attestation: AttestationType?

    package init(
      _ traits: AuthenticatorTraits, keyIDs: [KeyID]? = nil, attestation: AttestationType? = nil
    ) {
      (self.traits, self.keyIDs, self.attestation) = (traits, keyIDs, attestation)
    }
  }

  /// Whether the policy disallows a candidate.
  package func disallows(_ candidate: Candidate, knownExtensions: Set<String> = []) -> Bool {
    disallowed.contains {
      $0.matches(candidate.traits, keyIDs: candidate.keyIDs, knownExtensions: knownExtensions)
    }
  }

  /// The first combination that distinct authenticators meet, with the candidate of each criterion.
  ///
  /// - Parameters:
  ///   - candidates: The authenticators at hand.
  ///   - knownExtensions: The ids of extensions that the caller knows.
  /// - Returns: The index of the combination, and for each of its criteria the index of a candidate; or nil.
  package func firstCombination(
    of candidates: [Candidate], knownExtensions: Set<String> = []
  ) -> (combination: Int, candidates: [Int])? {
    combinations(of: candidates, knownExtensions: knownExtensions).first
  }

  /// All combinations that distinct authenticators meet, in the server's order.
  ///
  /// Two candidates of one model are two keys of one authenticator: a device has one of each.
  package func combinations(
    of candidates: [Candidate], knownExtensions: Set<String> = []
  ) -> [(combination: Int, candidates: [Int])] {
    let allowed = candidates.indices.filter {
      !disallows(candidates[$0], knownExtensions: knownExtensions)
    }
    return accepted.enumerated().compactMap { index, criteria in
      let fitting = criteria.map { criterion in
        allowed.filter {
          criterion.matches(
            candidates[$0].traits, keyIDs: candidates[$0].keyIDs, knownExtensions: knownExtensions)
            && criterion.prefersAttestation(of: candidates[$0])
        }
      }
      return assign(fitting, candidates).map { (index, $0) }
    }
  }

  /// Gives each criterion a model of its own, moving earlier ones where that makes room, and the first candidate of it that fits.
  private func assign(_ fitting: [[Int]], _ candidates: [Candidate]) -> [Int]? {
    var owner: [AAID: (criterion: Int, candidate: Int)] = [:]
    func place(_ criterion: Int, _ tried: inout Set<AAID>) -> Bool {
      for candidate in fitting[criterion] {
        let model = candidates[candidate].traits.aaid
        guard tried.insert(model).inserted else { continue }
        if let present = owner[model], !place(present.criterion, &tried) { continue }
        owner[model] = (criterion, candidate)
        return true
      }
      return false
    }
    for criterion in fitting.indices {
      var tried: Set<AAID> = []
      guard place(criterion, &tried) else { return nil }
    }
    var chosen = [Int](repeating: 0, count: fitting.count)
    for (criterion, candidate) in owner.values { chosen[criterion] = candidate }
    return chosen
  }
}
