import SignetCrypto
import SignetStorage

extension StorageContract {
  static let devices: [Check] = [
    Check("a device stands as its container does") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let made = try await storage.only("alice")
      try expect(made.compliance, is: .open, "at the beginning")
      try expect([made.name, made.platform], is: ["Läptop", "linux"], "what it is")
      try expect(made.created, is: 1700, "since when")
      try await storage.report(.stepUp, of: "c1")
      try await expect(storage.only("alice").compliance, is: .stepUp, "after a report")
      try await storage.order(.lock, "c1")
      try await expect(storage.only("alice").compliance, is: .locked, "after a lock")
      try await storage.order(.unlock, "c1")
      try await expect(storage.only("alice").compliance, is: .stepUp, "after the unlock")
      _ = try await storage.revokeContainer("c1")
      try await expect(storage.only("alice").compliance, is: .open, "without its container")
      // The same device, with a new container and a UAF key.
      try await storage.activate("c2")
      _ = try await storage.register("k1", of: "alice")
      let again = try await storage.only("alice")
      try expect(again.id, is: made.id, "its id")
      try expect(again.name, is: "Läptop", "its name")
    },
    Check("devices to which nothing is bound any more do not pile up") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c")
      _ = try await storage.register("k", of: "alice", on: "kept")
      for number in 0..<200 {
        _ = try await storage.addTarget("t\(number)", of: "alice", on: "d\(number)")
        _ = try await storage.removeUAFTarget("t\(number)", audit: event("removed"))
      }
      let devices = try await storage.devices(user: "alice").map(\.installation)
      try expect(devices.count <= 66, is: true, "\(devices.count) devices")
      try expect(
        devices.contains("kept") && devices.contains(Sample.installation), is: true, "those in use")
    },
    Check("50 registrations and targets of one device at once: it is one device") { storage in
      try await storage.add(Sample.alice)
      _ = try await race { number in
        number % 2 == 0
          ? try await storage.register("k\(number)", of: "alice", limit: 100) == .accepted
          : try await storage.addTarget("t\(number)", of: "alice")
      }
      try await expect(storage.devices(user: "alice").count, is: 1, "devices")
      try await expect(storage.uafCredentials(user: "alice").count, is: contestants / 2, "keys")
    },
    Check("what is bound to an account is read from one place, whatever kind it is of") { storage in
      for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
      try await storage.activate("c1")
      try await storage.activate("b1", user: "bob", device: 9)
      try await storage.add(Sample.activation("a2"))
      _ = try await storage.finish("a2", Sample.container("c2", activation: "a2", device: 8))
      _ = try await storage.register("k1", of: "alice")
      _ = try await storage.register("k2", of: "alice", on: nil)
      for (id, user) in [("app", "alice"), ("other", "bob")] {
        try await storage.addPushAuthMechanism(
          PushAuthMechanismRecord(
            id: "\(id)", user: "\(user)", sealedSecret: [1], challenge: [2], created: 1000, expires: 1900),
          with: nil, audit: event("app"))
      }
      _ = try await storage.addTokens([Sample.credential("t", user: nil, serial: "s1")]) { _ in event("t") }
      _ = try await storage.assignToken("s1", to: "alice", audit: event("assigned"))
      _ = try await storage.lockDevice(of: "alice")
      let device = try await storage.only("alice")
      let holdings = try await storage.holdings(of: "alice", codeAttempts: 100)
      try expect(holdings.devices, is: [device], "the devices")
      let name = Base64URL.encode(Array("k1".utf8))
      let other = Base64URL.encode(Array("k2".utf8))
      let (here, nowhere) = (device.id.text, "")
      let expected = [
        ["app", "push-app", nowhere, "", "pending", ""],
        ["7357#0001/\(other)", "uaf", nowhere, "7357#0001", "active", ""],
        ["7357#0001/\(name)", "uaf", here, "7357#0001", "suspended", "the device is locked"],
        ["c1", "container", here, "Läptop", "suspended", "why"],
        ["c2", "container", nowhere, "Läptop", "pending", ""],
        ["s1", "otp", nowhere, "s1", "pending", ""],
      ]
      let found = holdings.authenticators.map {
        [$0.id, $0.kind.rawValue, $0.device?.text ?? nowhere, $0.name, $0.state.rawValue, $0.reason]
      }
      try expect(Set(found), is: Set(expected), "the authenticators")
      try expect(
        holdings.authenticators.map(\.created), is: [1000, 1000, 1000, 1500, 1500, 1500], "their order")
      try expect(holdings.authenticators.allSatisfy { $0.lastUsed == nil }, is: true, "their uses")
      try await expect(storage.device(device.id)?.user, is: "alice", "whose the device is")
      _ = try await storage.revokeDevice(device.id, audit: event("revoked"), lost: Sample.lost)
      let ended = try await storage.holdings(of: "alice", codeAttempts: 100).authenticators
        .filter { $0.device == device.id }
      try expect(ended.map(\.state), is: [.revoked, .revoked], "what was on the device")
    },
    Check(
      "the last use of an authenticator is what its acceptance wrote; a device was seen at the last of it"
    ) {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for (key, device) in [("k1", Sample.installation), ("k2", nil)] {
        _ = try await storage.register(key, of: "alice", on: device)
      }
      try await storage.addPushAuthMechanism(
        Sample.mechanism("app", of: "alice"), with: nil, audit: event("app"))
      _ = try await storage.registerApp("app")
      _ = try await storage.addTokens([Sample.credential("t", serial: "s1")]) { _ in event("t") }
      let device = try await storage.only("alice").id
      func expectUses(_ uses: [String: Int64], seen: Int64?, _ what: String) async throws {
        let holdings = try await storage.holdings(of: "alice", codeAttempts: 100)
        let names = holdings.authenticators.map { $0.kind == .uaf ? $0.kind.rawValue : $0.id }
        let found = zip(names, holdings.authenticators).compactMap { name, one in
          one.lastUsed.map { (name, $0) }
        }
        try expect(Dictionary(found, uniquingKeysWith: max), is: uses, what)
        try expect(holdings.lastSeen(device), is: seen, "the device \(what)")
      }
      @Sendable func use(_ id: ID<CredentialRecord>, of subject: OTPSubject, at time: Int64) async throws {
        let outcome = try await storage.attempt(subject) { snapshot in
          var result = OTPResult(.accepted, wait: nil, audit: event("taken"))
          for var used in snapshot.credentials where used.id == id {
            (used.lastCounter, used.lastUsed) = (used.lastCounter + 1, time)
            result.changed.append(used)
          }
          return result
        }
        try expect(outcome, is: .accepted, "a code of \(id)")
      }
      try await expectUses([:], seen: nil, "before the first")
      try await storage.report(.open, of: "c1")
      try await expectUses([:], seen: 1010, "after a report")
      try await use("t", of: OTPSubject(user: "alice", serial: "s1"), at: 1020)
      try await expectUses(["s1": 1020], seen: 1010, "after a code of a token, which is on no device")
      try await use("c1", of: OTPSubject(user: "alice"), at: 1030)
      try await expectUses(["s1": 1020, "c1": 1030], seen: 1030, "after a code of a container")
      for counter in [0, 1, 1] as [UInt32] {
        _ = try await storage.authenticate("k1", of: "alice", counter: counter, at: 1050 + Int64(counter))
      }
      _ = try await storage.authenticate("k2", of: "alice", at: 1060)
      try await expectUses(
        ["s1": 1020, "c1": 1030, "uaf": 1051], seen: 1051, "after a key that counts, and one that does not")
      try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
      try await expect(storage.decide("t1", Sample.decision(.denied)), is: .decided, "a decision")
      _ = try await storage.ask(Sample.message("m", to: "app"), of: "alice", limits: Sample.limits)
      let answer = try await storage.answerPushAuthMessage("m", .denied(), at: 1080, audit: event("answer"))
      try expect(answer, is: .accepted, "an answer")
      try await expectUses(
        ["s1": 1020, "c1": 1100, "uaf": 1051, "app": 1080], seen: 1100, "after answers to requests")
      _ = try await storage.assignToken("s1", to: nil, audit: event("assigned"))
      _ = try await storage.assignToken("s1", to: "alice", audit: event("assigned"))
      _ = try await storage.revokeContainer("c1")
      try await expectUses(
        ["c1": 1100, "uaf": 1051, "app": 1080], seen: 1100, "of a revoked container, and of another's token")
    },
    Check("a deletion of a user removes the devices") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.register("k1", of: "alice", on: "tablet")
      try await expect(storage.devices(user: "alice").count, is: 2, "devices")
      _ = try await storage.deleteUser("alice", subject: "~new", at: 1010, audit: event("deleted")) { _ in
        event("ended")
      }
      try await expect(storage.devices(user: "alice"), is: [], "devices afterwards")
    },
  ]
}
