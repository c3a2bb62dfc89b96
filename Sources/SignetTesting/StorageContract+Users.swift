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
    Check("user ids differ by case and by bytes") { storage in
      for id in ["alice", "Alice", "al\u{E9}", "ale\u{301}", "a'; DROP TABLE users; --"] {
        try await storage.add(UserRecord(id: id, created: 1))
        let found = try await storage.user(id)
        try expect(found.map { Array($0.id.utf8) }, is: Array(id.utf8), "the bytes of a user id")
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
      _ = try await storage.submit(nil)
      try await expect(storage.user("alice")?.failedCodes, is: 1, "failed codes")
      try await expect(storage.unlockUser("alice", audit: event("unlock")), is: true, "unlock")
      try await expect(storage.unlockUser("bob", audit: event("unlock")), is: false, "unlock of nobody")
      try await expect(storage.user("alice")?.failedCodes, is: 0, "failed codes")
      try await expectLog(storage, has: ["user", "code wrong", "unlock"])
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
      try await expect(storage.revokeAPIKey("k1", at: 9, audit: event("revoked")), is: true, "revoke")
      try await expect(storage.revokeAPIKey("k2", at: 9, audit: event("revoked")), is: false, "of nothing")
      key.revoked = 9
      try await expect(storage.apiKey("k1"), is: key, "the revoked key")
      _ = try await storage.revokeAPIKey("k1", at: 50, audit: event("revoked"))
      try await expect(storage.apiKey("k1")?.revoked, is: 9, "when it was revoked first")
    }
  ]
}
