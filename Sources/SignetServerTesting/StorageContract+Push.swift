import SignetStorage

extension StorageContract {
  private static func target(_ id: PushTargetID, of container: ContainerID = "c1") -> PushTargetRecord {
    PushTargetRecord(
      id: id, container: container, name: "Télé", service: "fcm", sealedTarget: [1, 2], created: 1_000)
  }

  static let push: [Check] = [
    Check("targets are those of containers in use, up to a limit") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      try await storage.add(Sample.activation("a-c3"))
      _ = try await storage.finish("a-c3", Sample.container("c3", activation: "a-c3", device: 9))
      let audited = try await log(of: storage).count
      for id in ["t1", "t2"] as [PushTargetID] {
        try await expect(
          storage.addPushTarget(target(id), limit: 2, audit: event("added")), is: true, "adding \(id)")
      }
      try await expect(
        storage.addPushTarget(target("t3"), limit: 2, audit: event("added")), is: false,
        "one beyond the limit")
      try await expect(.containerNotInUse, "one of a pending container") {
        try await storage.addPushTarget(target("t3", of: "c3"), limit: 2, audit: event("added"))
      }
      try await expect(
        storage.addPushTarget(target("t4", of: "c2"), limit: 2, audit: event("added")), is: true, "another's")
      try await expect(storage.pushTargets(container: "c1"), is: [target("t1"), target("t2")], "those of c1")
      try await expect(storage.pushTargets(user: "alice").map(\.id), is: ["t1", "t2", "t4"], "alice's")
      try await expect(storage.pushTargets(user: "bob"), is: [], "bob's")
      _ = try await storage.revokeContainer("c1")
      try await expect(storage.pushTargets(user: "alice").map(\.id), is: ["t4"], "after c1 was revoked")
      _ = try await storage.sweep(at: 5_000) { event("expired \($0)") }
      try await expect(storage.pushTargets(container: "c1"), is: [], "those of c1 after a sweep")
      try await expect(log(of: storage).count, is: audited + 4, "the audit log")
    },
    Check("a target is changed and removed by its container only") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      _ = try await storage.addPushTarget(target("t1"), limit: 2, audit: event("added"))
      @Sendable func change(
        _ container: ContainerID, _ name: String?, _ target: (service: String, sealed: [UInt8])?
      ) async throws -> Bool {
        try await storage.changePushTarget(
          "t1", of: container, name: name, target: target, audit: event("changed"))
      }
      try await expect(change("c2", "x", nil), is: false, "another container's change")
      try await expect(change("c1", "x", nil), is: true, "a new name")
      try await expect(change("c1", nil, ("apns", [9])), is: true, "a new token")
      var changed = target("t1")
      (changed.name, changed.service, changed.sealedTarget) = ("x", "apns", [9])
      try await expect(storage.pushTargets(container: "c1"), is: [changed], "the target")
      @Sendable func remove(_ container: ContainerID, _ sealed: [UInt8]?) async throws -> Bool {
        try await storage.removePushTarget("t1", of: container, ifSealed: sealed, audit: event("removed"))
      }
      try await expect(remove("c2", nil), is: false, "another container's removal")
      try await expect(remove("c1", [1, 2]), is: false, "removal of what it was before")
      let removals = try await race { _ in try await remove("c1", [9]) }
      try expect(removals.filter { $0 }.count, is: 1, "removals, of 50 at once")
      try await expect(storage.pushTargets(container: "c1"), is: [], "the targets")
    },
    Check("a successor has the targets of the container that it renews") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.addPushTarget(target("t1"), limit: 2, audit: event("added"))
      var successor = Sample.container("c2", activation: "a-c1")
      successor.renews = "c1"
      _ = try await storage.stageRenewal(
        of: "c1", by: NewContainer(successor, Sample.credential("c2")), limit: 3
      ) { event("renewal \($0)") }
      try await expect(storage.confirm("c2"), is: .activated, "the confirmation")
      try await expect(storage.pushTargets(user: "alice"), is: [target("t1", of: "c2")], "the targets")
    },
    Check("who looks for changes of transactions hears of each, once") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.addTransaction(Sample.transaction("t0"), audit: event("transaction"))
      let start = try await storage.transactionChanges(after: nil)
      try expect(start.users, is: [], "users before anything is known")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      try await storage.addTransaction(Sample.transaction("t2"), audit: event("transaction"))
      try await storage.addTransaction(Sample.transaction("t3", user: "bob"), audit: event("transaction"))
      let added = try await storage.transactionChanges(after: start.last)
      try expect(added.users.map(\.text).sorted(), is: ["alice", "bob"], "users after three were added")
      try await expect(storage.transactionChanges(after: added.last).users, is: [], "users after that")
      _ = try await storage.decide("t1", Sample.decision())
      let decided = try await storage.transactionChanges(after: added.last)
      try expect(decided.users, is: ["alice"], "users after a decision")
      _ = try await storage.sweep(at: 2_000) { event("expired \($0)") }
      let swept = try await storage.transactionChanges(after: decided.last)
      try expect(swept.users.map(\.text).sorted(), is: ["alice", "bob"], "users after the rest expired")
      try expect(swept.last != decided.last, "the numbers grow")
    },
  ]
}
