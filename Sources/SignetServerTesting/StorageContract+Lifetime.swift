import SignetStorage

extension StorageContract {
  static let lifetime: [Check] = [
    Check("a renewal takes the place of its container, once it is confirmed") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.stage("c2", renewing: "c1"), is: .staged, "the first")
      try await expect(storage.container("c2")?.renews, is: "c1", "whom it renews")
      try await expect(storage.container("c2")?.succession, is: "signed", "the word of the key before")
      try await expect(storage.container("c1")?.state, is: .active, "the present one")
      try await expect(storage.submit(5, container: "c2"), is: .refused, "a code of the staged one")
      try await expect(storage.confirm("c2"), is: .activated, "confirm")
      try await expect(storage.confirm("c2"), is: .alreadyActive, "confirm again")
      try await expect(storage.container("c1")?.state, is: .revoked, "the one before")
      try await expect(storage.credential("c1"), is: nil, "what made the codes of the one before")
      try await expect(storage.container("c2")?.renewals, is: 1, "the count")
      try await expect(storage.stage("c3", renewing: "c1"), is: .gone, "a renewal of the one before")
      try await expect(storage.submit(5, container: "c2"), is: .accepted, "a code of the new one")
    },
    Check("a second renewal replaces one that was not confirmed") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.stage("c2", renewing: "c1"), is: .staged, "the first")
      try await expect(storage.stage("c3", renewing: "c1"), is: .staged, "the second")
      try await expect(storage.container("c2"), is: nil, "the first")
      try await expect(storage.credential("c2"), is: nil, "what would have made its codes")
      try await expect(storage.confirm("c2"), is: .gone, "confirm of the first")
      try await expect(storage.confirm("c3"), is: .activated, "confirm of the second")
    },
    Check("a renewal ends with its container") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.stage("c2", renewing: "c1")
      _ = try await storage.revokeContainer("c1")
      try await expect(storage.confirm("c2"), is: .gone, "confirm after the revocation")
      try await expect(storage.container("c2")?.state, is: .pending, "its state")
      try await expect(storage.stage("c3", renewing: "nothing"), is: .gone, "a renewal of nothing")
    },
    Check("wrong signatures of a renewal are counted to the limit, then none is taken") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for _ in 0..<2 {
        try await expect(storage.stage(nil, renewing: "c1", limit: 3), is: .notSigned, "a wrong one")
      }
      try await expect(storage.stage("c2", renewing: "c1", limit: 3), is: .staged, "the right one")
      for _ in 0..<3 {
        try await expect(storage.stage(nil, renewing: "c1", limit: 3), is: .notSigned, "a wrong one")
      }
      try await expect(storage.stage("c3", renewing: "c1", limit: 3), is: .locked, "the right one, too late")
      try await expect(storage.container("c3"), is: nil, "what was not taken")
      _ = try await storage.unlockUser("alice", audit: event("unlock"))
      try await expect(storage.stage("c3", renewing: "c1", limit: 3), is: .staged, "after unlocking")
    },
    Check("a renewal brings new keys only, and refuses others without counting anything") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.add(Sample.bob)
      try await storage.activate("c9", user: "bob")
      for usedID in ["c1", "c9"] as [ContainerID] {
        var record = Sample.container("c2", activation: "a-c1")
        (record.renews, record.renewals, record.succession) = ("c1", 1, "signed")
        // The key has another kind there: a key has one owner and one use.
        record.sessionKey = Sample.container(usedID, activation: "a").signingKey
        let successor = NewContainer(record, Sample.credential("c2"))
        let outcome = try await storage.stageRenewal(of: "c1", by: successor, limit: 1) {
          StorageContract.event("renewal \($0)")
        }
        try expect(outcome, is: .keyTaken, "a key of \(usedID)")
        try await expect(storage.container("c2"), is: nil, "what was not taken")
      }
      try await expect(storage.stage("c2", renewing: "c1", limit: 1), is: .staged, "new keys")
    },
    Check("who can set back the wrong signatures cannot set back the renewals that went wrong") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for number in 0..<3 {
        try await expect(storage.stage(nil, renewing: "c1", limit: 3), is: .notSigned, "a wrong one")
        let id: TransactionID = "t\(number)"
        try await storage.addTransaction(Sample.transaction(id), audit: event("asked"))
        _ = try await storage.decide(id, Sample.decision())
      }
      try await expect(storage.stage("c2", renewing: "c1", limit: 3), is: .locked, "the right one, too late")
    },
    Check("50 confirmations of one renewal at once: one activates") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.stage("c2", renewing: "c1")
      let outcomes = try await race { _ in try await storage.confirm("c2") }
      try expect(outcomes.filter { $0 == .activated }.count, is: 1, "activations")
      try expect(outcomes.filter { $0 == .alreadyActive }.count, is: contestants - 1, "repetitions")
    },
    Check("a renewal is asked for of a container in use, and the wish ends with it") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.askForRenewal("c1", audit: event("asked")), is: true, "the wish")
      try await expect(storage.container("c1")?.isRenewalRequested, is: true, "the flag")
      _ = try await storage.stage("c2", renewing: "c1")
      _ = try await storage.confirm("c2")
      try await expect(storage.container("c2")?.isRenewalRequested, is: false, "the flag of the new one")
      for id in ["c1", "nothing"] as [ContainerID] {
        try await expect(storage.askForRenewal(id, audit: event("asked")), is: false, "a wish of \(id)")
      }
    },
    Check("a device ends a container once, whatever its state") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.stage("c2", renewing: "c1")
      _ = try await storage.revokeContainer("c1")
      for id in ["c1", "c2"] as [ContainerID] {
        try await expect(
          storage.endContainer(id, as: "deleted", audit: event("end \(id)"), lost: Sample.lost), is: true,
          "the first word")
        try await expect(
          storage.endContainer(id, as: "wiped", audit: event("again"), lost: Sample.lost), is: false,
          "the second word")
        try await expect(storage.container(id)?.state, is: .revoked, "the state")
        try await expect(storage.container(id)?.ended, is: "deleted", "how it ended")
      }
      try await expect(storage.confirm("c2"), is: .gone, "confirm of what has ended")
      try await expect(
        storage.endContainer("nothing", as: "deleted", audit: event("again"), lost: Sample.lost), is: false,
        "of nothing")
      let log = try await log(of: storage)
      try expect(log.filter { $0.contains("end c") }.count, is: 2, "entries")
      try expect(!log.contains { $0.contains("again") }, "a repetition is no event")
    },
  ]
}

extension Storage {
  /// Stages a renewal; `nil` is one with a wrong signature.
  fileprivate func stage(
    _ id: ContainerID?, renewing renewed: ContainerID, limit: Int = 100
  ) async throws -> RenewalOutcome {
    let successor = id.map { id in
      var record = Sample.container(id, activation: "a-\(renewed)")
      (record.renews, record.renewals, record.succession) = (renewed, 1, "signed")
      return NewContainer(record, Sample.credential(ID(of: id)))
    }
    return try await stageRenewal(of: renewed, by: successor, limit: limit) {
      StorageContract.event("renewal \($0)")
    }
  }
}
