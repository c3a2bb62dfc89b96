import SignetStorage

extension StorageContract {
  static let activations: [Check] = [
    Check("an activation is found as it was added, and needs a user") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      try await expect(
        storage.openActivation(user: "alice"), is: Sample.activation("a1"), "the open activation")
      try await expect(storage.openActivation(user: "bob"), is: nil, "an activation of nobody")
      try await expect(.unknown, "an activation for nobody") {
        try await storage.add(Sample.activation("a2", user: "bob"))
      }
      try await expectLog(storage, has: ["user", "invite"])
    },
    Check("a later activation replaces an open one, and its pending container") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      _ = try await storage.finish("a1", Sample.container("c1", activation: "a1"))
      try await storage.add(Sample.activation("a2"))
      try await expect(storage.openActivation(user: "alice")?.id, is: "a2", "the open activation")
      try await expect(storage.finish("a1", nil), is: .closed, "finish of a replaced activation")
      try await expect(storage.confirm("c1"), is: .gone, "confirm of a replaced activation")
      try await expect(.exists, "an activation of the same name") {
        try await storage.add(Sample.activation("a2"))
      }
      try await expect(storage.openActivation(user: "alice")?.id, is: "a2", "the one that stays")
    },
    Check("wrong proofs are counted to the limit, then nothing is accepted") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      for remaining in [4, 3, 2, 1, 0] {
        try await expect(
          storage.finish("a1", nil), is: .wrongProof(remaining: remaining), "a wrong proof")
      }
      try await expect(storage.finish("a1", nil), is: .closed, "a sixth wrong proof")
      let right = try await storage.finish("a1", Sample.container("c1", activation: "a1"))
      try expect(right, is: .closed, "a right proof after five wrong ones")
      try await expect(storage.container("c1"), is: nil, "a container of an exhausted invite")
      try await expect(storage.openActivation(user: "alice")?.failedAttempts, is: 5, "the count")
    },
    Check("a right proof costs nothing, a second one replaces the pending container") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      for id in ["c1", "c2"] as [ContainerID] {
        try await expect(
          storage.finish("a1", Sample.container(id, activation: "a1")), is: .staged, "a right proof")
      }
      try await expect(storage.container("c1"), is: nil, "the replaced container")
      try await expect(
        storage.container("c2"), is: Sample.container("c2", activation: "a1"), "the pending container")
      try await expect(storage.openActivation(user: "alice")?.failedAttempts, is: 0, "the count")
    },
    Check("who knows an invite fills the audit log no further than sixty entries an hour") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1", expires: 10_000))
      let before = try await log(of: storage).count
      for number in 0..<70 {
        try await expect(
          storage.finish("a1", Sample.container("c\(number)", activation: "a1")), is: .staged, "a right proof"
        )
      }
      try await expect(log(of: storage).count, is: before + 60, "entries")
      try await expect(storage.finish("a1", nil), is: .wrongProof(remaining: 4), "a wrong proof")
      try await expect(log(of: storage).count, is: before + 61, "entries with a wrong proof")
      let last = NewContainer(Sample.container("last", activation: "a1"), Sample.credential("last"))
      let later = try await storage.finishActivation("a1", container: last, limit: 5, at: 1600 + 3600) { _ in
        AuditRecord(.userAdded(user: "finish"), by: .local, at: 3600)
      }
      try expect(later, is: .staged, "an hour later")
      try await expect(log(of: storage).count, is: before + 62, "entries an hour later")
    },
    Check("an activation that is used, expired or unknown refuses") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1", expires: 1600))
      for record in [nil, Sample.container("c1", activation: "a1")] {
        try await expect(storage.finish("a1", record, at: 1600), is: .closed, "finish at the end")
        try await expect(storage.finish("nothing", record), is: .closed, "finish of nothing")
      }
      let last = try await storage.finish("a1", Sample.container("c1", activation: "a1"), at: 1599)
      try expect(last, is: .staged, "finish in the last second")
      try await expect(storage.confirm("c1"), is: .activated, "confirm")
      try await expect(storage.finish("a1", nil, at: 1500), is: .closed, "finish of a used activation")
      try await expect(storage.openActivation(user: "alice"), is: nil, "a used activation")
    },
    Check("50 wrong proofs at once: exactly 5 are counted") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      let outcomes = try await race { _ in try await storage.finish("a1", nil) }
      let counted = outcomes.filter { $0 != .closed }
      try expect(counted.count, is: 5, "counted proofs")
      try expect(
        Set(counted), is: Set((0..<5).map { ActivationOutcome.wrongProof(remaining: $0) }), "what is left")
      try await expect(storage.openActivation(user: "alice")?.failedAttempts, is: 5, "the count")
      try await expect(log(of: storage).count, is: 7, "entries in the audit log")
    },
    Check("50 right proofs at once leave one container") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      _ = try await race { number in
        try await storage.finish("a1", Sample.container("c\(number)", activation: "a1"))
      }
      try await expect(storage.containers(user: "alice").count, is: 1, "pending containers")
    },
    Check("confirm is idempotent, revokes the user's other container of the device, and nothing else") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      try await storage.activate("c3", user: "bob")
      try await expect(storage.confirm("c1"), is: .alreadyActive, "confirm again")
      let entries = try await log(of: storage).count
      try await expect(storage.confirm("c1"), is: .alreadyActive, "confirm once more")
      try await expect(log(of: storage).count, is: entries, "entries for a repeated confirm")
      try await storage.activate("c4")
      let states = try await ["c1", "c2", "c3", "c4"].asyncMap { try await storage.container($0)?.state }
      try expect(states, is: [.revoked, .active, .active, .active], "the containers' states")
      let lost = try await log(of: storage).filter { $0.contains("lost") }
      try expect(lost, is: [event("lost container(c1)").text], "the event of the one that was replaced")
      try await expect(storage.confirm("c1"), is: .gone, "confirm of a revoked container")
      try await expect(storage.confirm("nothing"), is: .gone, "confirm of nothing")
    },
    Check("50 confirms at once: one activates") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      _ = try await storage.finish("a1", Sample.container("c1", activation: "a1"))
      let outcomes = try await race { _ in try await storage.confirm("c1") }
      try expect(outcomes.filter { $0 == .activated }.count, is: 1, "confirms that activate")
      try expect(outcomes.filter { $0 == .alreadyActive }.count, is: contestants - 1, "the others")
    },
  ]
}

extension Sequence {
  func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
