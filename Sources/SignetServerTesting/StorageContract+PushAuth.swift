import SignetStorage

extension StorageContract {
  private static func mechanism(
    _ id: ID<PushAuthMechanismRecord>, user: UserID = "alice", expires: Int64 = 1900
  ) -> PushAuthMechanismRecord {
    PushAuthMechanismRecord(
      id: id, user: user, sealedSecret: [1], challenge: [2], created: 1000, expires: expires)
  }

  private static func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

  private static func message(
    _ id: ID<PushAuthMessageRecord>, of mechanism: ID<PushAuthMechanismRecord> = "m1"
  ) -> PushAuthMessageRecord {
    PushAuthMessageRecord(
      id: id, of: "t-\(id)", mechanism: mechanism, kind: "challenge", challenge: [3], sealedNumber: [4],
      created: 1000, expires: 1100)
  }

  /// Prepares a user with an active mechanism `m1`.
  private static func prepare(_ storage: Storage) async throws {
    try await storage.addUser(UserRecord(id: "alice", created: 1000), audit: event("user"))
    try await storage.addPushAuthMechanism(mechanism("m1"), with: nil, audit: event("mechanism"))
    try expect(
      await storage.registerPushAuthMechanism(
        "m1", named: "app", sealedDevice: [5], at: 1001, audit: event("registered")),
      is: true, "the registration")
  }

  static let pushAuth: [Check] = [
    Check("an authenticator app registers once, in time, under a name of its own") { storage in
      try await prepare(storage)
      try await expect(.unknown, "a mechanism of no user") {
        try await storage.addPushAuthMechanism(
          mechanism("m2", user: "nobody"), with: nil, audit: event("mechanism"))
      }
      try await expect(.exists, "a second of the id") {
        try await storage.addPushAuthMechanism(mechanism("m1"), with: nil, audit: event("mechanism"))
      }
      try await storage.addPushAuthMechanism(mechanism("m2"), with: nil, audit: event("mechanism"))
      try await expect(.exists, "a name that another has") {
        _ = try await storage.registerPushAuthMechanism(
          "m2", named: "app", sealedDevice: [6], at: 1001, audit: event("registered"))
      }
      for (id, time) in [("m1", 1002), ("m2", 1900), ("m3", 1002)] as [(String, Int64)] {
        try expect(
          await storage.registerPushAuthMechanism(
            "\(id)", named: "other", sealedDevice: [6], at: time, audit: event("registered")),
          is: false, "\(id) at \(time)")
      }
      let found = try await storage.pushAuthMechanism(named: "app")
      try expect(found?.id, is: "m1", "by its name")
      try expect(found?.sealedDevice, is: [5], "the device")
      try expect(
        await storage.changePushAuthDevice(
          "m2", sealedDevice: [7], digest: digest(0), audit: event("changed")), is: false,
        "a device of one that is not active")
      try expect(
        await storage.changePushAuthDevice(
          "m1", sealedDevice: [7], digest: digest(0), audit: event("changed")), is: true,
        "another device")
      try expect(
        await storage.changePushAuthDevice(
          "m1", sealedDevice: [8], digest: digest(0), audit: event("changed")), is: false,
        "the same change again")
      for number in 1...63 {
        try expect(
          await storage.changePushAuthDevice(
            "m1", sealedDevice: [7], digest: digest(UInt8(number)), audit: event("changed")), is: true,
          "change \(number)")
      }
      try expect(
        await storage.changePushAuthDevice(
          "m1", sealedDevice: [8], digest: digest(0), audit: event("changed")), is: false,
        "the first change, after 63 others")
      try expect(
        try await storage.pushAuthMechanisms(user: "alice").map(\.sealedDevice), is: [[7], nil], "all")
    },
    Check("codes of an authenticator app come with it, count once it has registered, and go with it") {
      storage in
      try await prepare(storage)
      func codes(_ id: ID<CredentialRecord>, _ serial: String) -> CredentialRecord {
        CredentialRecord(
          id: id, user: "alice", serial: serial, kind: .totp, algorithm: "SHA1", digits: 6, period: 30,
          sealedSecret: [9], created: 1000)
      }
      var two = mechanism("m2")
      two.credential = "c2"
      try await storage.addPushAuthMechanism(two, with: codes("c2", "app-2"), audit: event("mechanism"))
      try expect(try await storage.credential("c2")?.state, is: .pending, "before the registration")
      var three = mechanism("m3")
      three.credential = "c3"
      try await expect(.exists, "a serial number that another has") {
        try await storage.addPushAuthMechanism(three, with: codes("c3", "app-2"), audit: event("mechanism"))
      }
      try expect(try await storage.pushAuthMechanism("m3") == nil, is: true, "the half beside it")
      var again = mechanism("m1")
      again.credential = "c4"
      try await expect(.exists, "an id that another has") {
        try await storage.addPushAuthMechanism(again, with: codes("c4", "app-4"), audit: event("mechanism"))
      }
      try expect(try await storage.credential("c4") == nil, is: true, "the codes beside it")
      // A refused registration changes neither half.
      try await expect(.exists, "a name that another has") {
        _ = try await storage.registerPushAuthMechanism(
          "m2", named: "app", sealedDevice: [6], at: 1001, audit: event("registered"))
      }
      try expect(try await storage.credential("c2")?.state, is: .pending, "after a refusal")
      _ = try await storage.registerPushAuthMechanism(
        "m2", named: "app two", sealedDevice: [6], at: 1001, audit: event("registered"))
      try expect(try await storage.credential("c2")?.state, is: .active, "after the registration")
      try expect(await storage.removePushAuthMechanism("m2", audit: event("removed")), is: true, "removed")
      try expect(try await storage.credential("c2") == nil, is: true, "the codes of one that was removed")
      try await storage.addPushAuthMechanism(three, with: codes("c3", "app-3"), audit: event("mechanism"))
      _ = try await storage.sweep(at: 1900) { _ in event("expired") }
      try expect(try await storage.credential("c3") == nil, is: true, "the codes of one that nobody used")
    },
    Check("the last answer of an authenticator app is found behind any number of messages") { storage in
      try await prepare(storage)
      try expect(await storage.lastAnsweredPushAuthMessage(of: "m1") == nil, is: true, "before the first")
      for (id, time) in [("b", 1060), ("a", 1050)] as [(String, Int64)] {
        try expect(await storage.send(message("\(id)"), pending: 1000), is: .added, id)
        let outcome = try await storage.answerPushAuthMessage(
          "\(id)", .denied(), at: time, audit: event("answered"))
        try expect(outcome, is: .accepted, "the answer to \(id)")
      }
      for number in 0..<70 {
        var newer = message("n\(number)")
        newer.created = 1070
        try expect(await storage.send(newer, pending: 1000), is: .added, "\(number)")
      }
      try expect(await storage.lastAnsweredPushAuthMessage(of: "m1")?.answered, is: 1060, "the last answer")
      try expect(await storage.lastAnsweredPushAuthMessage(of: "m2") == nil, is: true, "of another app")
    },
    Check("a message to an authenticator app is answered once, of 50, in time") { storage in
      try await prepare(storage)
      try expect(await storage.send(message("a"), pending: 3), is: .added, "one")
      try expect(await storage.send(message("b"), pending: 3), is: .added, "two")
      try expect(
        await storage.send(message("c"), pending: 3), is: .tooManyPending(retryAfter: 100), "three")
      try expect(await storage.send(message("d", of: "m9")), is: .noAuthenticator, "of no mechanism")
      let acceptedCount = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask {
            try await storage.answerPushAuthMessage(
              "a", number.isMultiple(of: 2) ? .yes : .denied(), at: 1050, audit: event("answered"))
              == .accepted
          }
        }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      try expect(acceptedCount, is: 1, "answers")
      try expect(
        await storage.answerPushAuthMessage("b", .yes, at: 1100, audit: event("answered")), is: .ended,
        "a late one")
      try expect(try await storage.pushAuthMessage("b")?.state, is: .expired, "what was late")
      try expect(try await storage.transaction("t-b")?.state, is: .expired, "its transaction")
      try expect(
        await storage.answerPushAuthMessage("b", .yes, at: 1050, audit: event("answered")), is: .ended,
        "one after the clock was set back")
    },
    Check("a wrong number is a no, once") { storage in
      try await prepare(storage)
      _ = try await storage.send(message("a"))
      for outcome in [PushAuthAnswerOutcome.accepted, .ended] {
        let found = try await storage.answerPushAuthMessage(
          "a", .denied(because: EndRecord.wrongNumber), at: 1050, audit: event("wrong"))
        try expect(found, is: outcome, "a wrong number")
      }
      let ended = try await storage.pushAuthMessage("a")
      try expect(ended?.state, is: .denied, "the end")
      try expect(ended?.answered, is: 1050, "its time")
      let denied = try await storage.transaction("t-a")
      try expect(denied?.state, is: .denied, "the transaction")
      try expect(denied?.end?.reason, is: "wrongNumber", "its reason")
    },
    Check("what an app is asked by name, it answers alone: no container and no UAF key") { storage in
      try await prepare(storage)
      try await storage.activate("c1")
      try await expect(storage.register("k1", of: "alice", on: nil), is: .accepted, "a key")
      try expect(await storage.send(message("a")), is: .added, "a message")
      try await expect(storage.decide("t-a", Sample.decision(.denied, at: 1050)), is: .unknown, "a decision")
      try await expect(
        storage.end(
          "t-a", Sample.end(.cancelled, by: "c1", at: 1050), isSuspicious: true, limits: Sample.limits),
        is: .unknown, "a cancellation")
      var session = Sample.session("s", "Auth", of: "alice")
      session.transaction = "t-a"
      try await storage.addUAFOperation(session, audit: nil)
      let outcome = try await storage.finishUAFAuthentication(
        "s", of: "alice", UAFOperationEnd(status: 1200, time: 1050),
        uses: [CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 0)]
      ) { _ in event("uaf") }
      try expect(outcome, is: .transactionEnded, "an answer by UAF")
      try expect(try await storage.transaction("t-a")?.state, is: .pending, "the transaction")
      // The user's other authenticators do not prevent its end.
      _ = try await storage.removePushAuthMechanism("m1", audit: event("removed"))
      try expect(try await storage.transaction("t-a")?.state, is: .withdrawn, "without its app")
    },
    Check("whatever ends a transaction that an app answers alone ends its message in the same step") {
      storage in
      try await prepare(storage)
      for id in ["a", "b", "c"] as [ID<PushAuthMessageRecord>] {
        try expect(await storage.send(message(id)), is: .added, "\(id)")
      }
      try await expect(
        storage.end("t-a", Sample.end(.withdrawn, at: 1050), isSuspicious: false, limits: Sample.limits),
        is: .decided, "withdrawn")
      try expect(try await storage.pushAuthMessage("a")?.state, is: .expired, "withdrawal")
      try expect(
        await storage.answerPushAuthMessage(
          "b", .approved { $0.soleKind != nil }, at: 1050, audit: event("yes")), is: .accepted, "a yes")
      let answered = try await storage.transaction("t-b")
      try expect(answered?.state, is: .accepted, "its transaction")
      try expect(answered?.app, is: AppAnswer(mechanism: "m1", message: "b", time: 1050), "by what")
      try await expect(storage.suspend("alice"), is: .changed, "suspended")
      try expect(try await storage.pushAuthMessage("c")?.state, is: .expired, "suspension")
      try expect(try await storage.transaction("t-c")?.state, is: .withdrawn, "its transaction")
    },
    Check("a removed authenticator app takes its messages along; unused ones are swept") { storage in
      try await prepare(storage)
      _ = try await storage.send(message("a"))
      try expect(await storage.removePushAuthMechanism("m1", audit: event("removed")), is: true, "once")
      try expect(await storage.removePushAuthMechanism("m1", audit: event("removed")), is: false, "twice")
      try expect(try await storage.pushAuthMessage("a") == nil, is: true, "its message")
      let ended = try await storage.transaction("t-a")
      try expect(ended?.state, is: .withdrawn, "its transaction")
      try expect(ended?.end?.reason, is: EndRecord.noAuthenticator, "its reason")
      try await storage.addPushAuthMechanism(mechanism("m2"), with: nil, audit: event("mechanism"))
      _ = try await storage.sweep(at: 1900) { _ in event("expired") }
      try expect(try await storage.pushAuthMechanism("m2") == nil, is: true, "the unused one")
    },
  ]
}

extension Storage {
  fileprivate func send(
    _ message: PushAuthMessageRecord, pending: Int = 100
  ) async throws -> AdmissionOutcome {
    let limits = TransactionLimits(pending: pending, challenges: 1000, wrongSignatures: 3)
    return try await ask(message, of: "alice", limits: limits)
  }
}
