import SignetUAF

extension Policy {
  /// The combinations that a candidate is in, in the server's order; each has the index of a candidate for each criterion.
  ///
  /// No two candidates of a combination are of one model: each criterion is met by an authenticator of its own. Of several
  /// candidates of a model the first that fits counts.
  ///
  /// - Parameters:
  ///   - chosen: The index of the candidate.
  ///   - candidates: All candidates.
  /// - Returns: The combinations.
  func combinations(with chosen: Int, of candidates: [Candidate]) -> [(combination: Int, members: [Int])] {
    guard !disallows(candidates[chosen]) else { return [] }
    return accepted.enumerated().compactMap { index, criteria in
      for position in criteria.indices where criteria[position].fits(candidates[chosen]) {
        var rest = criteria
        rest.remove(at: position)
        guard !rest.isEmpty else { return (index, [chosen]) }
        var others: [Int] = []
        for other in candidates.indices {
          let aaid = candidates[other].traits.aaid
          guard aaid != candidates[chosen].traits.aaid, !disallows(candidates[other]),
            !others.contains(where: { candidates[$0].traits.aaid == aaid }),
            rest.contains(where: { $0.fits(candidates[other]) })
          else { continue }
          others.append(other)
        }
        let policy = Policy(accepted: [rest], disallowed: disallowed)
        guard let found = policy.firstCombination(of: others.map { candidates[$0] }) else { continue }
        var members = found.candidates.map { others[$0] }
        members.insert(chosen, at: position)
        return (index, members)
      }
      return nil
    }
  }
}

extension MatchCriteria {
  fileprivate func fits(_ candidate: Policy.Candidate) -> Bool {
    matches(candidate.traits, keyIDs: candidate.keyIDs)
  }
}

/// The candidates of a request, with all combinations of them that its policy takes.
struct MatchedPolicy: Sendable {
  let candidates: [UAFCandidate]
  /// In the server's order; each names candidates by index, in the order of its criteria.
  private let combinations: [(combination: Int, members: [Int])]

  init(
    _ policy: Policy,
    _ members: [(authenticator: UAFAuthenticator, key: UAFKey?, candidate: Policy.Candidate)]
  ) {
    let candidates = members.map(\.candidate)
    var found: [(combination: Int, members: [Int])] = []
    for index in members.indices {
      for combination in policy.combinations(with: index, of: candidates)
      where !found.contains(where: { $0 == combination }) {
        found.append(combination)
      }
    }
    combinations = found.sorted { $0.combination < $1.combination }
    self.candidates = members.indices.map { index in
      UAFCandidate(
        authenticator: members[index].authenticator, key: members[index].key,
        isPolicyCompliant: found.contains { $0.members.contains(index) })
    }
  }

  /// The combinations all of whose candidates can be chosen.
  var usable: [[UAFCandidate]] {
    combinations.map { $0.members.map { candidates[$0] } }.filter { $0.allSatisfy(\.isUsable) }
  }
}
