import SignetIdentifiers
import SignetUAF

/// Candidates that match all criteria of one list of a policy, in the order of the criteria.
struct PolicyCombination: Hashable, Sendable {
  /// The index of the list in the policy.
  let list: Int
  /// The index of a candidate for each criterion.
  let members: [Int]
}

extension Policy {
  /// Returns the combinations that the policy accepts, in the server's order: for each list and each candidate at most one.
  ///
  /// No two candidates of a combination have the same model, so each criterion is matched by a different authenticator.
  /// Of several candidates of one model the first match is used.
  func combinations(of candidates: [Candidate]) -> [PolicyCombination] {
    // Computed once, because a server may disallow thousands of authenticators.
    let allowed = candidates.indices.filter { !disallows(candidates[$0]) }
    let models = Set(allowed.map { candidates[$0].traits.aaid })
    return accepted.indices.flatMap { list -> [PolicyCombination] in
      guard accepted[list].count <= models.count else { return [] }
      var found: [PolicyCombination] = []
      for chosen in allowed {
        guard let members = Self.combination(with: chosen, of: candidates, allowed, accepted[list]) else {
          continue
        }
        let combination = PolicyCombination(list: list, members: members)
        if !found.contains(combination) { found.append(combination) }
      }
      return found
    }
  }

  /// Returns a candidate for each criterion, with `chosen` among them; `nil` if `chosen` matches none or the others cannot be matched.
  private static func combination(
    with chosen: Int, of candidates: [Candidate], _ allowed: [Int], _ criteria: [MatchCriteria]
  ) -> [Int]? {
    for position in criteria.indices where criteria[position].fits(candidates[chosen]) {
      var remaining = criteria
      remaining.remove(at: position)
      guard !remaining.isEmpty else { return [chosen] }
      var models: Set<AAID> = [candidates[chosen].traits.aaid]
      let others = allowed.filter { other in
        let aaid = candidates[other].traits.aaid
        guard !models.contains(aaid), remaining.contains(where: { $0.fits(candidates[other]) }) else {
          return false
        }
        models.insert(aaid)
        return true
      }
      let found = Policy(accepted: [remaining]).firstCombination(of: others.map { candidates[$0] })
      guard let found else { continue }
      var members = found.candidates.map { others[$0] }
      members.insert(chosen, at: position)
      return members
    }
    return nil
  }
}

extension MatchCriteria {
  fileprivate func fits(_ candidate: Policy.Candidate) -> Bool {
    matches(candidate.traits, keyIDs: candidate.keyIDs)
  }
}

/// The candidates of a request, with all combinations of them that its policy accepts.
struct MatchedPolicy: Sendable {
  /// An authenticator or one of its keys, with the traits that a policy matches.
  typealias Member = (authenticator: UAFAuthenticator, key: UAFKey?, candidate: Policy.Candidate)

  let candidates: [UAFCandidate]
  private let combinations: [PolicyCombination]

  init(_ policy: Policy, _ members: [Member]) {
    combinations = policy.combinations(of: members.map(\.candidate))
    let compliant = Set(combinations.flatMap(\.members))
    candidates = members.indices.map { index in
      UAFCandidate(
        authenticator: members[index].authenticator, key: members[index].key,
        isPolicyCompliant: compliant.contains(index))
    }
  }

  /// The combinations in which all candidates are usable, in the server's order.
  var usable: [[UAFCandidate]] {
    combinations.map { $0.members.map { candidates[$0] } }.filter { $0.allSatisfy(\.isUsable) }
  }
}
