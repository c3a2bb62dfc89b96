package import SignetJSON

/// A server's policy for authenticators.
package struct Policy: Hashable, Sendable {
  /// The accepted combinations in the server's order of preference.
  ///
  /// Each criterion of a combination must be met by a different authenticator.
  package var accepted: [[MatchCriteria]]
  /// The disallowed authenticators; it overrides `accepted`.
  package var disallowed: [MatchCriteria]

  package init(accepted: [[MatchCriteria]], disallowed: [MatchCriteria] = []) {
    (self.accepted, self.disallowed) = (accepted, disallowed)
  }

  /// Parses a policy outside a message.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    accepted = try reader.list("accepted") { value, path throws(MessageFailure) in
      try DictionaryReader.list(value, path, minimum: 1, maximum: 16) { value, path throws(MessageFailure) in
        try MatchCriteria(DictionaryReader(value, path))
      }
    }
    // An empty list disallows nothing, like a missing one.
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

  /// Indicates whether a server may send the policy.
  package var isWellFormed: Bool {
    !accepted.isEmpty && accepted.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isWellFormed) }
      && disallowed.allSatisfy(\.isWellFormed)
  }

  /// An authenticator with the keys that it would be used with.
  package struct Candidate: Hashable, Sendable {
    package var traits: AuthenticatorTraits
    /// The keys; `nil` if they do not matter, for example before a registration.
    package var keyIDs: [KeyID]?
    /// The attestation type that it used; `nil` if it has not attested yet.
    package var attestation: AttestationType?

    package init(
      _ traits: AuthenticatorTraits, keyIDs: [KeyID]? = nil, attestation: AttestationType? = nil
    ) {
      self.traits = traits
      self.keyIDs = keyIDs
      self.attestation = attestation
    }
  }

  /// Indicates whether the policy disallows a candidate.
  package func disallows(_ candidate: Candidate, knownExtensions: Set<String> = []) -> Bool {
    disallowed.contains {
      $0.matches(candidate.traits, keyIDs: candidate.keyIDs, knownExtensions: knownExtensions)
    }
  }

  /// Returns the first combination that distinct authenticators meet.
  ///
  /// - Parameters:
  ///   - candidates: The available authenticators.
  ///   - knownExtensions: The ids of extensions that the caller evaluates.
  /// - Returns: The index of the combination, and for each of its criteria the index of a candidate; `nil` if there is none.
  package func firstCombination(
    of candidates: [Candidate], knownExtensions: Set<String> = []
  ) -> (combination: Int, candidates: [Int])? {
    combinations(of: candidates, knownExtensions: knownExtensions).first
  }

  /// Returns all combinations that distinct authenticators meet, in the server's order.
  ///
  /// Two candidates of one model are two keys of the same authenticator: a device has one authenticator of each model.
  package func combinations(
    of candidates: [Candidate], knownExtensions: Set<String> = []
  ) -> [(combination: Int, candidates: [Int])] {
    let allowed = candidates.indices.filter {
      !disallows(candidates[$0], knownExtensions: knownExtensions)
    }
    return accepted.enumerated().compactMap { index, criteria in
      let matching = criteria.map { criterion in
        allowed.filter {
          criterion.matches(
            candidates[$0].traits, keyIDs: candidates[$0].keyIDs, knownExtensions: knownExtensions)
            && criterion.prefersAttestation(of: candidates[$0])
        }
      }
      return assign(matching, candidates).map { (index, $0) }
    }
  }

  /// Assigns each criterion a different model and its first matching candidate; reassigns earlier criteria if necessary.
  private func assign(_ matching: [[Int]], _ candidates: [Candidate]) -> [Int]? {
    var assignment: [AAID: (criterion: Int, candidate: Int)] = [:]
    func augment(_ criterion: Int, _ visited: inout Set<AAID>) -> Bool {
      for candidate in matching[criterion] {
        let model = candidates[candidate].traits.aaid
        guard visited.insert(model).inserted else { continue }
        if let assigned = assignment[model], !augment(assigned.criterion, &visited) { continue }
        assignment[model] = (criterion, candidate)
        return true
      }
      return false
    }
    for criterion in matching.indices {
      var visited: Set<AAID> = []
      guard augment(criterion, &visited) else { return nil }
    }
    var chosen = [Int](repeating: 0, count: matching.count)
    for (criterion, candidate) in assignment.values { chosen[criterion] = candidate }
    return chosen
  }
}
