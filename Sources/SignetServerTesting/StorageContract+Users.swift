import SignetStorage

extension StorageContract {
  static let users: [Check] = [
    Check("a user is found as added, once") { storage in
      try await storage.add(Sample.bob)
      try await storage.add(Sample.alice)
      try await expect(storage.user("alice"), is: Sample.alice, "the user")
      try await expect(storage.user("nobody"), is: nil, "a user that is none")
      try await expect(storage.users(), is: [Sample.alice, Sample.bob], "users by id")
      try await expect(.exists, "a second alice") { try await storage.add(Sample.alice) }
      try await expectLog(storage, has: ["user", "user"])
    },
    Check("a user is renamed, and has no name after a deletion") { storage in
      var alice = Sample.alice
      alice.displayName = "Alice Adams"
      try await storage.add(alice)
      try await expect(storage.user("alice"), is: alice, "as added")
      for name in ["Álice 'B'; --", nil, "Alice Brown"] {
        try await expect(
          storage.renameUser("alice", to: name, audit: event("renamed")), is: .changed, "a new name")
        alice.displayName = name
        try await expect(storage.user("alice"), is: alice, "renamed")
        try await expect(storage.users(), is: [alice], "in the list")
        try await expect(
          storage.renameUser("alice", to: name, audit: event("none")), is: .unchanged, "the same name")
      }
      try await expect(
        storage.renameUser("bob", to: "Bob", audit: event("none")), is: .unknown, "nobody")
      _ = try await storage.deleteUser("alice", subject: "~new", at: 1010, audit: event("deleted")) { _ in
        event("ended")
      }
      let left = UserID(unchecked: alice.subject)
      try await expect(storage.user(left)?.displayName, is: nil, "what is left")
      try await expect(
        storage.renameUser(left, to: "Alice", audit: event("none")), is: .unknown, "who was deleted")
      try await expectLog(storage, has: ["user", "renamed", "renamed", "renamed", "deleted"])
    },
    Check("user ids differ by case and by bytes") { storage in
      for id in ["alice", "Alice", "al\u{E9}", "ale\u{301}", "a'; DROP TABLE users; --"] as [UserID] {
        try await storage.add(UserRecord(id: id, created: 1))
        let found = try await storage.user(id)
        try expect(found.map { Array($0.id.text.utf8) }, is: Array(id.text.utf8), "the bytes of a user id")
      }
      try await expect(storage.users().count, is: 5, "users")
    },
    Check("50 of one id at once: one is added") { storage in
      let outcomes = try await race { number -> Bool in
        do {
          try await storage.addUser(UserRecord(id: "alice", created: Int64(number)), audit: event("user"))
          return true
        } catch StorageFailure.exists { return false }
      }
      try expect(outcomes.filter { $0 }.count, is: 1, "users added")
      try await expectLog(storage, has: ["user"])
    },
    Check("unlocking forgets failed codes, and finds no one else") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.submit(nil)
      try await expect(storage.credential("c1")?.failures, is: 1, "failed codes")
      try await expect(storage.unlockUser("alice", audit: event("unlock")), is: true, "unlock")
      try await expect(storage.unlockUser("bob", audit: event("unlock")), is: false, "unlock of nobody")
      try await expect(storage.credential("c1")?.failures, is: 0, "failed codes")
      try await expectLog(storage, has: ["user", "invite", "finish", "confirm", "code refused", "unlock"])
    },
  ]

  static let apiKeys: [Check] = [
    Check("an API key is found as added, and revoked once for all") { storage in
      var key = APIKeyRecord(
        id: "k1", name: "shop", scopes: ["admin", "relying-party"], secretDigest: [1, 2, 3], created: 5)
      let other = APIKeyRecord(id: "k0", name: "other", scopes: ["admin"], secretDigest: [4], created: 6)
      try await storage.addAPIKey(key, audit: event("key"))
      try await storage.addAPIKey(other, audit: event("key"))
      try await expect(storage.apiKey("k1"), is: key, "the key")
      try await expect(storage.apiKey("k2"), is: nil, "a key that is none")
      try await expect(storage.apiKeys(), is: [key, other], "keys, oldest first")
      try await expect(.exists, "a second k1") { try await storage.addAPIKey(key, audit: event("key")) }
      try await expect(storage.revoke("k1", at: 9), is: .revoked, "revoke")
      try await expect(storage.revoke("k2", at: 9), is: .unknown, "of nothing")
      key.revoked = 9
      try await expect(storage.apiKey("k1"), is: key, "the revoked key")
      _ = try await storage.revoke("k1", at: 50)
      try await expect(storage.apiKey("k1")?.revoked, is: 9, "when it was revoked first")
    },
    Check("the last good API key of a scope stays good, whatever others there are") { storage in
      try await storage.add(Sample.key("k1", ["relying-party", "admin"]))
      try await storage.add(Sample.key("k2", ["admin"]))
      try await storage.add(Sample.key("k3", ["relying-party"]))
      // Scopes are compared as whole words.
      try await storage.add(Sample.key("k4", ["administrator"]))
      try await expect(storage.revoke("k1", at: 9), is: .revoked, "one of two")
      try await expect(storage.revoke("k2", at: 9), is: .last, "the last")
      try await expect(storage.apiKey("k2")?.revoked, is: nil, "the last key")
      try await expect(storage.revoke("k1", at: 9), is: .revoked, "one that was revoked before")
      try await expect(storage.revoke("k3", at: 9), is: .revoked, "the last of another scope")
      try await expectLog(
        storage, has: ["key", "key", "key", "key", "revoked", "revoked", "revoked"])
      try await storage.add(Sample.key("k5", ["admin"]))
      try await expect(storage.revoke("k2", at: 9), is: .revoked, "after another was made")
    },
    Check("50 revocations of 50 keys at once leave one good") { storage in
      for number in 0..<50 { try await storage.add(Sample.key("k\(number)", ["admin"])) }
      let outcomes = try await race { try await storage.revoke("k\($0)", at: 9) }
      try expect(outcomes.filter { $0 == .revoked }.count, is: 49, "keys revoked")
      try expect(outcomes.filter { $0 == .last }.count, is: 1, "keys kept")
      try await expect(storage.apiKeys().filter { $0.revoked == nil }.count, is: 1, "good keys")
    },
  ]
}

extension Sample {
  fileprivate static func key(_ id: ID<APIKeyRecord>, _ scopes: [String]) -> APIKeyRecord {
    APIKeyRecord(id: id, name: "\(id)", scopes: scopes, secretDigest: Array(id.text.utf8), created: 5)
  }
}

extension Storage {
  fileprivate func add(_ key: APIKeyRecord) async throws(StorageFailure) {
    try await addAPIKey(key, audit: StorageContract.event("key"))
  }

  fileprivate func revoke(_ id: ID<APIKeyRecord>, at time: Int64) async throws(StorageFailure)
    -> RevocationOutcome
  {
    try await revokeAPIKey(id, keepingOneOf: "admin", at: time, audit: StorageContract.event("revoked"))
  }
}
