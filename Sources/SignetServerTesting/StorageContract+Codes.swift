import SignetStorage

extension StorageContract {
  static let codes: [Check] = [
    Check("a counter is accepted once, and none below it") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for (counter, outcome) in [
        (10, CodeOutcome.accepted), (10, .refused), (9, .refused), (11, .accepted), (11, .refused),
      ] {
        try await expect(storage.submit(Int64(counter)), is: outcome, "counter \(counter)")
      }
      try await expect(storage.credential("c1")?.lastCounter, is: 11, "the last counter")
    },
    Check("a code counts for its user's active container only") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c1")
      try await storage.add(Sample.activation("a2"))
      _ = try await storage.finish("a2", Sample.container("c2", activation: "a2", device: 9))
      try await expect(storage.submit(5, user: "bob"), is: .refused, "a code of another user's container")
      try await expect(storage.submit(5, container: "c2"), is: .refused, "a code of a pending container")
      try await expect(storage.submit(5, user: "nobody"), is: .refused, "a code of nobody")
      try await expect(storage.credential("c1"), is: Sample.active("c1"), "the credential")
      try await expect(storage.credential("c2")?.state, is: .pending, "the pending one's state")
    },
    Check("failed codes in a row lock, a good one before that sets the count back") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.submit(nil), is: .refused, "a wrong code")
      try await expect(storage.submit(nil), is: .refused, "a wrong code")
      try await expect(storage.submit(5), is: .accepted, "the right code")
      for _ in 0..<3 { try await expect(storage.submit(nil), is: .refused, "a wrong code") }
      try await expect(storage.submit(6), is: .locked, "the right code of a locked credential")
      try await expect(storage.credential("c1")?.failures, is: 3, "the count")
      _ = try await storage.unlockUser("alice", audit: event("unlock"))
      try await expect(storage.submit(6), is: .accepted, "the same code after unlocking")
    },
    Check("50 of one counter at once: one is accepted") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let outcomes = try await race { _ in try await storage.submit(5, limit: 1000) }
      try expect(outcomes.filter { $0 == .accepted }.count, is: 1, "accepted codes")
      try expect(outcomes.filter { $0 == .refused }.count, is: contestants - 1, "refused codes")
      try await expect(storage.credential("c1")?.failures, is: contestants - 1, "failures after it, or fewer")
      {
        ($0 ?? .max) <= $1 ?? 0
      }
    },
    Check("50 wrong codes at once: no more than the limit are compared") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let outcomes = try await race { _ in try await storage.submit(nil, limit: 3) }
      try expect(outcomes.filter { $0 == .refused }.count, is: 3, "codes that were compared")
      try expect(outcomes.filter { $0 == .locked }.count, is: contestants - 3, "codes that were not")
    },
    Check(
      "50 good codes and 50 wrong ones at once leave the highest counter and the failures after the last good one"
    ) {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let outcomes = try await race { number in
        try await storage.submit(number.isMultiple(of: 2) ? Int64(number) : nil, limit: 1000)
      }
      try expect(outcomes.contains(.accepted), "none was accepted")
      let last = try await storage.credential("c1")
      try expect(last?.lastCounter, is: 48, "the highest counter")
      // The order of entries in several chains is unknown.
      let chains = try await storage.auditEntries(after: 0, limit: 1_000).map(\.chain)
      guard Set(chains).count == 1 else {
        return try expect(
          (0...25).contains(last?.failures ?? -1), "the failures are those of some wrong ones")
      }
      let log = try await log(of: storage).filter { $0.contains("code") }
      let after = log.reversed().prefix { $0.contains("refused") }.count
      try expect(last?.failures, is: after, "failures since the last good one, as the log has it")
    },
  ]

  static let attempts: [Check] = [
    Check("what a verifier says is written: state, counter, drift and failures of each credential") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      let outcome = try await storage.attempt(OTPSubject(user: "alice", client: [1])) { snapshot in
        var result = OTPResult(.refused, wait: nil, audit: event("verified"))
        result.changed = snapshot.credentials.map {
          var credential = $0
          (credential.lastCounter, credential.drift, credential.failures) = (7, -3, credential.failures + 2)
          return credential
        }
        return result
      }
      try expect(outcome, is: .refused, "the outcome")
      for id in ["c1", "c2"] as [ID<CredentialRecord>] {
        var expected = Sample.active("\(id)")
        (expected.lastCounter, expected.drift, expected.failures) = (7, -3, 2)
        try await expect(storage.credential(id), is: expected, "the credential \(id)")
      }
    },
    Check("a counter never gets smaller, whatever a verifier says") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.submit(10)
      do {
        _ = try await storage.attempt(OTPSubject(user: "alice")) { snapshot in
          var result = OTPResult(.accepted, wait: nil, audit: event("wrong"))
          result.changed = snapshot.credentials.map {
            var credential = $0
            credential.lastCounter = 9
            return credential
          }
          return result
        }
        throw Failure(description: "a smaller counter: expected a failure, and it succeeded")
      } catch StorageFailure.failed {}
      try await expect(storage.credential("c1")?.lastCounter, is: 10, "the counter")
      try expect(
        try await !log(of: storage).contains { $0.contains("wrong") }, "an event of what was not done")
    },
    Check("a wait is kept for each user and address, until it is taken back, unlocked or swept") { storage in
      try await storage.add(Sample.alice)
      let wait = WaitRecord(failures: 4, until: 130, expires: 500)
      @Sendable func setWait(_ user: UserID, _ client: UInt8, _ wait: WaitRecord?) async throws {
        _ = try await storage.attempt(OTPSubject(user: user, client: [client])) { _ in
          OTPResult(.refused, wait: wait, audit: event("wait"))
        }
      }
      @Sendable func found(_ user: UserID, _ client: UInt8) async throws -> WaitRecord? {
        // The verifier returns only an outcome, so the outcome carries the result.
        let outcome = try await storage.attempt(OTPSubject(user: user, client: [client])) { snapshot in
          OTPResult(
            snapshot.wait == wait ? .waiting(seconds: 1) : .refused, wait: snapshot.wait,
            audit: event("look"))
        }
        return outcome == .refused ? nil : wait
      }
      // An unknown user's address must wait too, otherwise the wait would reveal which users exist.
      for user in ["alice", "nobody"] as [UserID] { try await setWait(user, 1, wait) }
      try await expect(found("alice", 1), is: wait, "alice's wait")
      try await expect(found("nobody", 1), is: wait, "nobody's wait")
      try await expect(found("alice", 2), is: nil, "the wait of another address")
      try await setWait("nobody", 1, nil)
      try await expect(found("nobody", 1), is: nil, "a wait that was taken back")
      _ = try await storage.unlockUser("alice", audit: event("unlock"))
      try await expect(found("alice", 1), is: nil, "a wait after unlocking")
      try await setWait("alice", 1, wait)
      _ = try await storage.sweep(at: 499) { _ in event("expired") }
      try await expect(found("alice", 1), is: wait, "a wait before its end")
      _ = try await storage.sweep(at: 500) { _ in event("expired") }
      try await expect(found("alice", 1), is: nil, "a wait after its end")
    },
    Check("an attempt with a key that was revoked is not looked at") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let key = APIKeyRecord(id: "k1", name: "shop", scopes: ["x"], secretDigest: [1], created: 1)
      try await storage.addAPIKey(key, audit: event("key"))
      try await expect(storage.submit(5, key: "k1"), is: .accepted, "a good key")
      try await expect(storage.submit(6, key: "k2"), is: .keyRevoked, "a key that is none")
      _ = try await storage.revokeAPIKey("k1", keepingOneOf: "admin", at: 9, audit: event("revoked"))
      let before = try await log(of: storage)
      try await expect(storage.submit(6, key: "k1"), is: .keyRevoked, "a revoked key")
      try await expect(storage.credential("c1")?.lastCounter, is: 5, "the counter")
      try await expect(log(of: storage), is: before, "the log")
    },
  ]

  static let tokens: [Check] = [
    Check("tokens are found as added, once, by serial number and user") { storage in
      try await storage.add(Sample.alice)
      let (one, two) = (Sample.token("s1"), Sample.token("s2", user: "alice"))
      try await expect(storage.add([two, one]), is: ["s2", "s1"], "what was added")
      try await expect(storage.add([one, Sample.token("s3")]), is: ["s3"], "what was new")
      try await expect(storage.credential(one.id), is: one, "a token")
      try await expect(
        storage.tokens(after: "", user: nil, limit: 9).map(\.serial), is: ["s1", "s2", "s3"], "all")
      try await expect(storage.tokens(after: "s1", user: nil, limit: 1), is: [two], "a page")
      try await expect(storage.tokens(after: "", user: "alice", limit: 9), is: [two], "alice's")
      try await expect(.unknown, "a token of nobody") {
        try await storage.add([Sample.token("s4", user: "x")])
      }
      try await expectLog(storage, has: ["user", "token s2", "token s1", "token s3"])
    },
    Check("50 imports of one token at once: one adds it") { storage in
      let added = try await race { number in try await storage.add([Sample.token("s1", id: "t\(number)")]) }
      try expect(added.filter { $0 == ["s1"] }.count, is: 1, "imports that added it")
      try await expect(storage.tokens(after: "", user: nil, limit: 9).count, is: 1, "tokens")
    },
    Check("a token counts for its user once it is active, and by its serial number before") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      _ = try await storage.add([Sample.token("s1", user: "alice")])
      @Sendable func seen(_ attempt: OTPSubject) async throws -> Bool {
        try await storage.attempt(attempt) { snapshot in
          OTPResult(
            snapshot.credentials.map(\.serial) == ["s1"] ? .accepted : .refused, wait: nil,
            audit: event("look"))
        } == .accepted
      }
      try await expect(seen(OTPSubject(user: "alice")), is: false, "a pending one of the user")
      try await expect(
        seen(OTPSubject(user: "alice", serial: "s1")), is: true, "a pending one by its number")
      try await expect(seen(OTPSubject(user: nil, serial: "s1")), is: true, "the number alone")
      try await expect(seen(OTPSubject(user: "bob", serial: "s1")), is: false, "another's")
      _ = try await storage.attempt(OTPSubject(user: "alice", serial: "s1")) { snapshot in
        var result = OTPResult(.accepted, wait: nil, audit: event("verified"))
        result.changed = snapshot.credentials.map {
          var credential = $0
          credential.state = .active
          return credential
        }
        return result
      }
      try await expect(seen(OTPSubject(user: "alice")), is: true, "an active one of the user")
      let done = try await storage.disableToken("s1", true, audit: event("disabled"))
      try expect(done, is: .done, "disabling")
      try await expect(seen(OTPSubject(user: "alice")), is: false, "a disabled one")
      _ = try await storage.assignToken("s1", to: "alice", audit: event("assigned"))
      try await expect(storage.credential("s1")?.state, is: .disabled, "a disabled one that was assigned")
      _ = try await storage.disableToken("s1", false, audit: event("enabled"))
      try await expect(storage.credential("s1")?.state, is: .pending, "the state of one to be verified again")
    },
    Check("a token is assigned, to be verified again, and removed") { storage in
      try await storage.add(Sample.alice)
      var token = Sample.token("s1")
      (token.lastCounter, token.failures, token.state) = (7, 2, .active)
      _ = try await storage.add([token])
      try await expect(
        storage.assignToken("s1", to: "alice", audit: event("assigned")), is: .done, "assigning")
      (token.user, token.failures, token.state) = ("alice", 0, .pending)
      try await expect(storage.credential("s1"), is: token, "the token")
      try await expect(
        storage.assignToken("s1", to: "nobody", audit: event("x")), is: .unknownUser, "to nobody")
      try await expect(
        storage.assignToken("s2", to: "alice", audit: event("x")), is: .unknownToken, "another token")
      try await expect(storage.disableToken("s2", true, audit: event("x")), is: .unknownToken, "disabling")
      try await expect(storage.assignToken("s1", to: nil, audit: event("taken")), is: .done, "taking back")
      try await expect(storage.credential("s1")?.user, is: nil, "its user")
      try await expect(storage.removeToken("s1", audit: event("removed")), is: .done, "removing")
      try await expect(storage.removeToken("s1", audit: event("x")), is: .unknownToken, "removing again")
      try await expect(storage.credential("s1"), is: nil, "the token")
      try await expectLog(storage, has: ["user", "token s1", "assigned", "taken", "removed"])
    },
  ]

  fileprivate static func expect(
    _ found: Int?, is bound: Int?, _ subject: String, _ holds: (Int?, Int?) -> Bool
  ) throws {
    try expect(holds(found, bound), "\(subject): found \(String(describing: found))")
  }
}

extension Sample {
  /// Returns the credential of an activated container without used codes.
  static func active(_ id: ID<CredentialRecord>) -> CredentialRecord { credential(id, state: .active) }

  fileprivate static func token(_ serial: String, id: String? = nil, user: UserID? = nil) -> CredentialRecord
  {
    credential("\(id ?? serial)", user: user, serial: serial, kind: .hotp)
  }
}

extension Storage {
  fileprivate func add(_ tokens: [CredentialRecord]) async throws(StorageFailure) -> [String] {
    try await addTokens(tokens) { StorageContract.event("token \($0.serial ?? "")") }
  }
}
