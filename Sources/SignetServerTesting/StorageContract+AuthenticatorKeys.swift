import SignetCrypto
package import SignetStorage

extension StorageContract {
  private static func key(_ name: String, of user: UserID, publicKey: [UInt8]) -> NewUAFCredential {
    UAFCredentialRecord(
      aaid: "7357#0001", keyID: Array(name.utf8), user: user, publicKey: publicKey, algorithm: 1,
      keyFormat: 0x100, signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000
    ).new
  }

  private static func register(_ storage: Storage, _ keys: NewUAFCredential...) async throws -> UAFOutcome {
    let session: ID<UAFOperationRecord> = "r-\(Base64URL.encode(SystemRandomSource().bytes(8)))"
    let user = keys.first?.credential.user ?? ""
    try await storage.addUAFOperation(Sample.session(session, "Reg", of: user), audit: nil)
    let outcome = try await storage.finishUAFRegistration(
      session, UAFOperationEnd(status: 1200, time: 1050), adding: keys, limit: 4
    ) { event("uaf \($0)") }
    let state = try await storage.uafOperation("\(session)")?.state
    try expect(state, is: outcome == .accepted ? .succeeded : .failed, "the operation")
    return outcome
  }

  private static func finish(
    _ storage: Storage, _ id: ContainerID, of user: UserID, signingKey: [UInt8]
  ) async throws -> ActivationOutcome {
    // A refusal leaves the activation open.
    if try await storage.openActivation(user: user)?.id != "a-\(id)" {
      try await storage.add(Sample.activation("a-\(id)", user: user))
    }
    var container = Sample.container(id, activation: "a-\(id)", user: user, device: 8)
    container.signingKey = signingKey
    return try await storage.finish("a-\(id)", container)
  }

  /// The checks that a public key belongs to one authenticator only.
  static let authenticatorKeys: [Check] = [
    Check("a public key of a container, in use or revoked, becomes no UAF key") { storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await storage.activate("c1")
      let container = try await storage.container("c1")
      let publicKeys = [container?.sessionKey, container?.encryptionKey, container?.signingKey]
      for isRevoked in [false, true] {
        if isRevoked { _ = try await storage.revokeContainer("c1") }
        for publicKey in publicKeys.compactMap(\.self) {
          for user in ["alice", "bob"] as [UserID] {
            try await expect(
              register(storage, key("k", of: user, publicKey: publicKey)), is: .keyExists, "for \(user)")
            try await expect(storage.uafCredentials(user: user), is: [], "keys of \(user)")
          }
        }
      }
      try await expect(register(storage, key("k", of: "bob", publicKey: [4])), is: .accepted, "another key")
    },
    Check("a public key of UAF, in use or removed, becomes no container's") { storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await expect(register(storage, key("k", of: "alice", publicKey: [4])), is: .accepted, "the key")
      for isRemoved in [false, true] {
        if isRemoved {
          _ = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in
            event("removed")
          }
        }
        for user in ["alice", "bob"] as [UserID] {
          try await expect(
            finish(storage, "c-\(user)", of: user, signingKey: [4]), is: .keyTaken, "for \(user)")
          try await expect(storage.container("c-\(user)"), is: nil, "the container of \(user)")
          try await expect(storage.openActivation(user: user)?.failedAttempts, is: 0, "what was counted")
        }
      }
      try await storage.activate("c1")
      var successor = Sample.container("c2", activation: "a-c1")
      (successor.renews, successor.renewals, successor.succession) = ("c1", 1, "signed")
      successor.encryptionKey = [4]
      let outcome = try await storage.stageRenewal(
        of: "c1", by: NewContainer(successor, Sample.credential("c2")), limit: 3
      ) { _ in event("renewal") }
      try expect(outcome, is: .keyTaken, "for a renewal")
    },
    Check("a UAF key that was removed is registered again for its user, under its name, and for nobody else")
    {
      storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      let own = key("k", of: "alice", publicKey: [4])
      for _ in 0..<2 {
        try await expect(register(storage, own), is: .accepted, "the key")
        try await expect(
          register(storage, key("other", of: "alice", publicKey: [4])), is: .keyExists, "under another name")
        let removed = try await storage.removeUAFCredentials(of: "alice", [UAFKeySelection()]) { _, _ in
          event("removed")
        }
        try expect(removed, is: 1, "keys that were removed")
        try await expect(
          register(storage, key("k", of: "bob", publicKey: [4])), is: .keyExists, "for another user")
        try await expect(
          register(storage, key("other", of: "alice", publicKey: [4])), is: .keyExists, "under another name")
      }
      let two = [key("k1", of: "bob", publicKey: [5]), key("k2", of: "bob", publicKey: [5])]
      try await expect(register(storage, two[0], two[1]), is: .keyExists, "two of one public key")
      try await expect(storage.uafCredentials(user: "bob"), is: [], "keys of the other user")
    },
    Check("one public key for all uses of a container is refused") { storage in
      try await storage.add(Sample.alice)
      let sessionKey = Sample.container("c", activation: "a").sessionKey
      try await expect(finish(storage, "c", of: "alice", signingKey: sessionKey), is: .keyTaken, "the key")
    },
    Check("a container that was never confirmed keeps its keys from others, until another replaces it") {
      storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await expect(finish(storage, "c1", of: "alice", signingKey: [4]), is: .staged, "the first")
      let copy = key("k", of: "bob", publicKey: [4])
      try await expect(register(storage, copy), is: .keyExists, "while it waits")
      try await expect(
        storage.finish("a-c1", Sample.container("c2", activation: "a-c1")), is: .staged, "another")
      try await expect(register(storage, copy), is: .accepted, "afterwards")
    },
    Check("public keys of a deleted user are nobody's, and stay so") { storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await storage.activate("c1")
      try await expect(register(storage, key("k", of: "alice", publicKey: [4])), is: .accepted, "the key")
      let signingKey = try await storage.container("c1")?.signingKey ?? []
      _ = try await storage.deleteUser("alice", subject: "~new", at: 1010, audit: event("deleted")) { _ in
        event("ended")
      }
      for publicKey in [[4], signingKey] {
        try await expect(
          register(storage, key("k", of: "bob", publicKey: publicKey)), is: .keyExists, "a UAF key")
        try await expect(
          finish(storage, "c2", of: "bob", signingKey: publicKey), is: .keyTaken, "a container")
      }
    },
    Check("50 registrations of one public key at once, by both kinds: one gets it") { storage in
      for number in 0..<contestants {
        let user: UserID = "user\(number)"
        try await storage.add(UserRecord(id: user, created: 1000))
        try await storage.add(Sample.activation("a-\(user)", user: user))
      }
      let isTaken = try await race { number in
        let user: UserID = "user\(number)"
        if number % 2 == 0 {
          return try await register(storage, key("k\(number)", of: user, publicKey: [4])) == .accepted
        }
        var container = Sample.container("c-\(user)", activation: "a-\(user)", user: user)
        container.signingKey = [4]
        return try await storage.finish("a-\(user)", container) == .staged
      }
      try expect(isTaken.count { $0 }, is: 1, "who got it")
    },
  ]
}

extension UAFCredentialRecord {
  /// The record in the form for registration.
  package var new: NewUAFCredential { NewUAFCredential(self, digest: PublicKeyDigest(of: publicKey)) }
}
