import SignetJSON
import SignetPolicy

let accountPolicyOperations = [
  Operation(name: "policy-evaluate") { request in
    let evidence = try request.members.optionalObject("evidence") ?? [:]
    let policies = try request.accountPolicies()
    let registered =
      try request.members.optionalStrings("registered") ?? AccountPolicyRegistry.builtIn.map(\.name)
    let accountEvidence = try AccountEvidence(evidence)
    var (seen, breaches, indeterminate): ([String], [AccountPolicyBreach], [String]) = ([], [], [])
    for name in registered where !seen.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      guard AccountPolicySet.isName(name) else { throw AccountPolicyFailure.invalidName(name) }
      seen.append(name)
      guard policies[name] != nil else { continue }
      if let policy = AccountPolicyRegistry()[name] {
        let registry = try AccountPolicyRegistry(only: [policy])
        try registry.check(policies)
        let report = AccountPolicyEvaluator(registry: registry).evaluateAtOnce(policies, accountEvidence)
        breaches += report.breaches
        indeterminate += report.indeterminate
      } else {
        // A policy of an app; the evidence itself has its result.
        switch try evidence.optionalBool(name) {
        case true?: break
        case false?:
          breaches.append(
            AccountPolicyBreach(
              policy: name, reason: "the evidence says that it does not hold", evidence: [name: false]))
        case nil: indeterminate.append(name)
        }
      }
    }
    let unknown = policies.names.filter { name in !seen.contains { $0.utf8.elementsEqual(name.utf8) } }
    var answer: JSONObject = [
      "compliant": .bool(breaches.isEmpty), "breaches": .array(breaches.map { .object($0.json) }),
      "indeterminate": .array(indeterminate.map { .string($0) }),
      "unknown": .array(unknown.map { .string($0) }),
    ]
    answer["lockingPolicy"] = breaches.first.map { .string($0.policy) }
    return answer
  }
]

extension Request {
  /// Reads policies from an object, or from a text with one; none if the member is absent.
  fileprivate func accountPolicies() throws -> AccountPolicySet {
    switch members["policies"] {
    case nil, .null: AccountPolicySet()
    case .object(let object): try AccountPolicySet(object)
    case .string(let text): try AccountPolicySet(parsing: Array(text.utf8))
    default: throw CheckFailure(invalid: "policies", "use an object")
    }
  }
}
