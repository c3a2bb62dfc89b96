import SignetStorage

extension StorageContract {
  static let containers: [Check] = [
    Check("a container is revoked for good") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.revokeContainer("c1", audit: event("revoked")), is: true, "revoke")
      try await expect(storage.revokeContainer("c2", audit: event("revoked")), is: false, "revoke of nothing")
      try await expect(storage.container("c1")?.state, is: .revoked, "the state")
      try await expect(storage.confirm("c1"), is: .gone, "confirm of a revoked container")
      try await expect(storage.submit(5), is: .replayed, "a code of a revoked container")
    },
    Check("containers are listed oldest first, of one user") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c2", device: 1)
      try await storage.activate("c1", device: 2)
      try await storage.activate("c3", user: "bob")
      try await expect(storage.containers(user: "alice").map(\.id), is: ["c1", "c2"], "alice's containers")
      try await expect(storage.containers(user: "nobody"), is: [], "nobody's containers")
    },
    Check("a request id is claimed once for each container, until it is swept") { storage in
      func claim(_ id: UInt8, _ container: String) async throws -> Bool {
        try await storage.claimRequest(
          [UInt8](repeating: id, count: 16), container: container, expires: 500)
      }
      try await expect(claim(1, "c1"), is: true, "the first claim")
      try await expect(claim(1, "c1"), is: false, "the second claim")
      try await expect(claim(1, "c2"), is: true, "the same id of another container")
      try await expect(claim(2, "c1"), is: true, "another id")
      _ = try await storage.sweep(at: 499) { _ in event("expired") }
      try await expect(claim(1, "c1"), is: false, "a claim before its end")
      _ = try await storage.sweep(at: 500) { _ in event("expired") }
      try await expect(claim(1, "c1"), is: true, "a claim after its end")
    },
    Check("50 claims of one id at once: one wins") { storage in
      let claims = try await race { _ in
        try await storage.claimRequest([UInt8](repeating: 3, count: 16), container: "c1", expires: 500)
      }
      try expect(claims.filter { $0 }.count, is: 1, "claims that win")
    },
  ]

  static let codes: [Check] = [
    Check("a counter is accepted once, and none below it") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for (counter, outcome) in [
        (10, CodeOutcome.accepted), (10, .replayed), (9, .replayed), (11, .accepted), (11, .replayed),
      ] {
        try await expect(storage.submit(Int64(counter)), is: outcome, "counter \(counter)")
      }
      try await expect(storage.container("c1")?.lastCounter, is: 11, "the last counter")
    },
    Check("a code counts for its user's active container only") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.add(Sample.activation("a2"))
      _ = try await storage.finish("a2", Sample.container("c2", activation: "a2", device: 9))
      try await expect(storage.submit(5, user: "bob"), is: .replayed, "a code of another user's container")
      try await expect(storage.submit(5, container: "c2"), is: .replayed, "a code of a pending container")
      try await expect(storage.submit(5, user: "nobody"), is: .wrong, "a code of nobody")
      try await expect(storage.container("c1")?.lastCounter, is: nil, "the last counter")
    },
    Check("failed codes in a row lock, a good one before that sets the count back") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.submit(nil), is: .wrong, "a wrong code")
      try await expect(storage.submit(nil), is: .wrong, "a wrong code")
      try await expect(storage.submit(5), is: .accepted, "the right code")
      for _ in 0..<3 { try await expect(storage.submit(nil), is: .wrong, "a wrong code") }
      try await expect(storage.submit(6), is: .locked, "the right code of a locked user")
      try await expect(storage.user("alice")?.failedCodes, is: 3, "the count")
      _ = try await storage.unlockUser("alice", audit: event("unlock"))
      try await expect(storage.submit(6), is: .accepted, "the same code after unlocking")
    },
    Check("50 of one counter at once: one is accepted") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let outcomes = try await race { _ in try await storage.submit(5, limit: 1000) }
      try expect(outcomes.filter { $0 == .accepted }.count, is: 1, "accepted codes")
      try expect(outcomes.filter { $0 == .replayed }.count, is: contestants - 1, "replayed codes")
    },
    Check("50 wrong codes at once: no more than the limit are compared") { storage in
      try await storage.add(Sample.alice)
      let outcomes = try await race { _ in try await storage.submit(nil, limit: 3) }
      try expect(outcomes.filter { $0 == .wrong }.count, is: 3, "codes that were compared")
      try expect(outcomes.filter { $0 == .locked }.count, is: contestants - 3, "codes that were not")
    },
  ]
}
