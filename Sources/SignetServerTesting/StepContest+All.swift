import SignetStorage

// Initial states.
extension StepContest {
  /// Alice has the container `c1` and the pending transaction `t1`.
  private static let asked: @Sendable (Storage) async throws -> Void = { _ = try await $0.asked(["t1"]) }

  private static let active: @Sendable (Storage) async throws -> Void = { storage in
    try await storage.add(Sample.alice)
    try await storage.activate("c1")
  }

  /// Alice's app `m1` has a message for the pending transaction `t1`.
  private static let appAsked: @Sendable (Storage) async throws -> Void = { storage in
    try await storage.add(Sample.alice)
    try await storage.addPushAuthMechanism(
      Sample.mechanism("m1", of: "alice"), with: nil, audit: event("mechanism"))
    _ = try await storage.registerApp("m1")
    let outcome = try await storage.ask(
      Sample.message("t1", to: "m1"), of: "alice", limits: Sample.limits)
    try StorageContract.expect(outcome, is: .added, "the message")
  }

  /// The token `s` waits for alice's target `d`.
  private static let tokenWaits: @Sendable (Storage) async throws -> Void = { storage in
    try await active(storage)
    try StorageContract.expect(await storage.addTarget("d", of: "alice"), is: true, "the target")
    try await storage.addToken("s", of: "alice", for: "d")
  }

  private static func addKeys(_ ids: [ID<APIKeyRecord>], _ scope: String, to storage: Storage) async throws {
    for id in ids {
      let key = APIKeyRecord(
        id: id, name: id.text, scopes: [scope], secretDigest: Array(id.text.utf8), created: 5)
      try await storage.addAPIKey(key, audit: event("key"))
    }
  }
}

extension StepContest {
  package static let all = answers + codes + enrolments + tokens + operators

  private static let answers = [
    StepContest(
      "two answers to one transaction", prizes: ["decided"],
      [answer(), answer(.denied, by: "c2", device: 9)]
    ) { storage in
      try await asked(storage)
      try await storage.activate("c2", device: 9)
    },
    StepContest("an answer and a withdrawal", prizes: ["decided"], [answer(), withdrawal], after: asked),
    StepContest("an answer and a suspension of its user", [answer(), suspension], after: asked),
    StepContest("an answer and a deletion of its user", [answer(), deletion], after: asked),
    StepContest("an answer and a lock of its device", [answer(), deviceLock], after: asked),
    StepContest("an answer and a revocation of its container", [answer(), revocation], after: asked),
    StepContest(
      "two answers of an app to one message", prizes: ["accepted"],
      [appAnswer(isYes: true), appAnswer(isYes: false)],
      after: appAsked),
    StepContest(
      "an answer of an app and its removal",
      [
        appAnswer(isYes: true),
        step { try await $0.removePushAuthMechanism("m1", audit: event("removed")) },
      ], after: appAsked),
    StepContest(
      "two requests where one may wait", prizes: ["added"], isSymmetric: true,
      [request("t1"), request("t2")],
      after: active),
  ]

  private static let codes = [
    StepContest(
      "two uses of one code", prizes: ["accepted"], isSymmetric: true, [code(5), code(5)], after: active),
    StepContest(
      "two wrong codes where one more is looked at", prizes: ["refused"], isSymmetric: true,
      [code(nil), code(nil)]
    ) { storage in
      try await active(storage)
      for _ in 0..<2 { _ = try await storage.submit(nil) }
    },
    StepContest("a code and a suspension of its user", [code(5), suspension], after: active),
    StepContest(
      "a code and the removal of its token",
      [
        step { storage in
          try await storage.attempt(OTPSubject(user: nil, serial: "s1")) {
            Sample.verify($0, 5, of: "k1", limit: 3)
          }
        },
        step { try await $0.removeToken("s1", audit: event("removed")) },
      ]
    ) { storage in
      try await storage.add(Sample.alice)
      _ = try await storage.addTokens([Sample.credential("k1", serial: "s1", kind: .hotp)]) { _ in
        event("token")
      }
    },
  ]

  private static let enrolments = [
    StepContest(
      "two activations with one invite", isSymmetric: true,
      ["c1", "c2"].map { (id: ContainerID) in
        step { try await $0.finish("a1", Sample.container(id, activation: "a1")) }
      }
    ) { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
    },
    StepContest(
      "a confirmation and another activation with its invite", prizes: ["activated", "staged"],
      [
        step { try await $0.confirm("c1") },
        step { try await $0.finish("a1", Sample.container("c2", activation: "a1")) },
      ]
    ) { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.activation("a1"))
      _ = try await storage.finish("a1", Sample.container("c1", activation: "a1"))
    },
    StepContest(
      "two UAF registrations of one public key", prizes: ["accepted"], isSymmetric: true,
      [
        registration("r1", of: "alice", key: "k1", publicKey: [4]),
        registration("r2", of: "bob", key: "k2", publicKey: [4]),
      ]
    ) { storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await storage.addUAFOperation(Sample.session("r1", "Reg", of: "alice"), audit: nil)
      try await storage.addUAFOperation(Sample.session("r2", "Reg", of: "bob"), audit: nil)
    },
    StepContest("a renewal and a lock of its container", [renewal, containerLock], after: active),
    StepContest("a renewal and a lock of its device", [renewal, deviceLock], after: active),
    StepContest(
      "a confirmation of a renewal and a lock of what it renews",
      [step { try await $0.confirm("c2") }, containerLock]
    ) { storage in
      try await active(storage)
      _ = try await renewal(storage)
    },
  ]

  private static let tokens = [
    StepContest(
      "two redemptions of one UAF token", prizes: ["true"], isSymmetric: true,
      [redemption(1), redemption(2)],
      after: tokenWaits),
    StepContest("a redemption and a lock of its device", [redemption(1), deviceLock], after: tokenWaits),
    StepContest(
      "two UAF responses with one counter", prizes: ["accepted"], isSymmetric: true,
      [authentication("s1"), authentication("s2")]
    ) { storage in
      try await storage.add(Sample.alice)
      try await storage.addUAFOperation(Sample.session("r", "Reg", of: "alice"), audit: nil)
      _ = try await registration("r", of: "alice", key: "k1", publicKey: [4])(storage)
      for id: ID<UAFOperationRecord> in ["s1", "s2"] {
        try await storage.addUAFOperation(Sample.session(id, "Auth", of: "alice"), audit: nil)
      }
    },
    StepContest(
      "two polls for one CIBA request", prizes: ["pending"], isSymmetric: true, [poll, poll]
    ) { storage in
      try await active(storage)
      try await storage.addClient(for: "alice")
      _ = try await storage.askByClient("alice")
    },
    StepContest(
      "two issues of the tokens of one CIBA request", prizes: ["true"], isSymmetric: true, [issue, issue]
    ) { storage in
      try await active(storage)
      try await storage.addClient(for: "alice")
      _ = try await storage.askByClient("alice")
      let outcome = try await storage.decide("t-alice", Sample.decision())
      try StorageContract.expect(outcome, is: .decided, "the decision")
    },
  ]

  private static let operators = [
    StepContest(
      "a code and the revocation of the key that it came with", [code(5, key: "k"), keyRevocation("k")],
      reading: { storage in
        // A repeated withdrawal looks up the key and writes nothing.
        let outcome = try await storage.end("t1", Sample.end(.withdrawn), key: "k")
        try StorageContract.expect(outcome, is: .repeated, "the second withdrawal")
      }
    ) { storage in
      try await active(storage)
      try await addKeys(["k"], "relying-party", to: storage)
      for step in [request("t1"), withdrawal] { _ = try await step(storage) }
    },
    StepContest(
      "two revocations where one key has to stay", prizes: ["revoked"], isSymmetric: true,
      [keyRevocation("k1"), keyRevocation("k2")]
    ) { try await addKeys(["k1", "k2"], "admin", to: $0) },
  ]
}
