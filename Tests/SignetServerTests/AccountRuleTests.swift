import SignetPolicy
import SignetStorage
import Testing

import SignetServer

@Suite("Reactions to account policy breaches")
struct AccountRuleTests {
  private func judged(
    _ broken: [String], _ reactions: [String: AccountRules.Reaction], flavours: Set<String> = [],
    flavour: String? = nil
  ) -> (reaction: AccountRules.Reaction, reason: String) {
    var rules = AccountRules()
    (rules.reactions, rules.flavours) = (reactions, flavours)
    return rules.gravestReaction(
      to: broken.map { AccountPolicyBreach(policy: $0, reason: "is broken") }, flavour: flavour)
  }

  @Test(
    "the most severe configured reaction applies, and the default is to lock",
    arguments: [
      ([], [:], .allow, .open), (["a"], [:], .lock, .locked), (["a"], ["a": .allow], .allow, .open),
      (["a"], ["a": .stepUp], .stepUp, .stepUp), (["a"], ["a": .wipe], .wipe, .locked),
      (["a"], ["b": .allow], .lock, .locked), (["a", "b"], ["a": .allow, "b": .allow], .allow, .open),
      (["a", "b"], ["a": .stepUp, "b": .allow], .stepUp, .stepUp),
      (["a", "b"], ["a": .allow, "b": .stepUp], .stepUp, .stepUp),
      (["a", "b"], ["a": .stepUp], .lock, .locked),
      (["a", "b", "c"], ["a": .stepUp, "b": .wipe, "c": .lock], .wipe, .locked),
    ] as [([String], [String: AccountRules.Reaction], AccountRules.Reaction, ComplianceState)])
  func reactions(
    broken: [String], reactions: [String: AccountRules.Reaction], reaction: AccountRules.Reaction,
    compliance: ComplianceState
  ) {
    let found = judged(broken, reactions)
    #expect(found.reaction == reaction && found.reaction.compliance == compliance)
    #expect(found.reason.isEmpty == (reaction == .allow))
    if reaction != .allow {
      // The reason is that of the gravest reaction, the first of those.
      let gravest = broken.first { (reactions[$0] ?? .lock) == reaction }
      #expect(found.reason == "\(gravest ?? ""): is broken")
    }
  }

  @Test("listed flavours are accepted; others and unknown ones are locked, whatever other policies say")
  func flavours() {
    #expect(judged([], [:], flavour: "debug").reaction == .allow)
    #expect(judged([], [:], flavours: ["release"], flavour: "release").reaction == .allow)
    for flavour in ["debug", "", "Release", nil] as [String?] {
      let found = judged([], ["a": .allow], flavours: ["release"], flavour: flavour)
      #expect(found.reaction == .lock && found.reason.contains(flavour ?? "unknown"))
    }
    #expect(judged(["a"], ["a": .wipe], flavours: ["release"], flavour: "release").reaction == .wipe)
  }
}
