import SignetStorage

extension StorageContract {
  /// The entries of one kind of event.
  private static func entries(_ event: String, _ storage: Storage) async throws -> [String] {
    try await log(of: storage).filter { $0.contains("\"event\":\"\(event)\"") }
  }

  private static func count(_ text: String, in entries: [String]) -> Int {
    entries.count { $0.contains(text) }
  }

  static let auditPlaces: [Check] = [
    Check("an event about what is on a device, or by a device, names the device") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.register("k1", of: "alice"), is: .taken, "a key")
      try await expect(storage.addTarget("d1", of: "alice"), is: true, "a target")
      let device = try await storage.only("alice").id
      let key = Array("k1".utf8)
      let named: [(String, AuditEvent, AuditActor)] = [
        ("container.renewalAsked", .containerRenewalAsked(container: "c1"), .local),
        ("account.reportRefused", .accountReportRefused(user: "alice", container: "c1"), .container("c1")),
        ("transaction.denied", .transactionDenied(user: "alice", transaction: "t"), .container("c1")),
        ("push.target.removed", .pushTargetRemoved(target: "p"), .container("c1")),
        ("uaf.released", .uafReleased(user: "alice", aaid: "7357#0001", key: key), .local),
        ("uaf.targetChanged", .uafTargetChanged(target: "d1"), .local),
        ("uaf.requested", .uafRequested(session: "s", operation: "Auth", user: "alice"), .target("d1")),
      ]
      for (name, event, actor) in named {
        try await storage.append(AuditRecord(event, by: actor, at: 1010))
        let found = try await entries(name, storage)
        try expect(count("\"device\":\"\(device)\"}", in: found), is: 1, name)
      }
      // A container that is not known, and what is on no device.
      let others: [(String, AuditEvent, AuditActor)] = [
        ("code.accepted", .codeAccepted(user: "alice", .container("c1")), .key("k")),
        ("container.revoked", .containerRevoked(container: "c9"), .local),
        ("transaction.expired", .transactionExpired(transaction: "t"), .server),
      ]
      for (name, event, actor) in others {
        try await storage.append(AuditRecord(event, by: actor, at: 1010))
        try await expect(count("\"device\"", in: entries(name, storage)), is: 0, name)
      }
      let own = AuditEvent.uafDeviceRemoved(user: "alice", device: "tablet")
      try await storage.append(AuditRecord(own, by: .target("d1"), at: 1010))
      try await expect(
        count("\"user\":\"~alice\",\"device\":\"tablet\"}", in: entries("uaf.deviceRemoved", storage)), is: 1,
        "one that has its own")
    },
    Check("an event of UAF names the device, also where its rows go in the same step") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for name in ["k1", "k2"] {
        try await expect(storage.register(name, of: "alice"), is: .taken, "a key")
      }
      for name in ["d1", "d2"] {
        try await expect(storage.addTarget(name, of: "alice"), is: true, "a target")
      }
      let device = try await storage.only("alice").id
      let text = "\"device\":\"\(device)\""
      // By the keys that answered.
      try await storage.addUAFSession(Sample.session("s1", "Auth", of: "alice"), audit: nil)
      let outcome = try await storage.finishUAFAuthentication(
        "s1", of: "alice",
        UAFSessionEnd(status: 1200, authenticators: #"[{"aaid":"7357#0001","keyId":"azE"}]"#, time: 1050),
        uses: [UAFKeyUse(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 0)]
      ) { _ in
        let answer = AuditEvent.UAFAnswer(
          session: "s1", user: "alice", keys: "[]", transaction: nil, outdated: [])
        return AuditRecord(.uafAuthenticated(answer), by: .anyone, at: 1050)
      }
      try expect(outcome, is: .taken, "an authentication")
      try await expect(count(text, in: entries("uaf.authenticated", storage)), is: 1, "an authentication")
      let target = AuditRecord(.uafTargetRemoved(target: "d1"), by: .local, at: 1060)
      try await expect(storage.removeUAFTarget("d1", audit: target), is: true, "a removal")
      try await expect(count(text, in: entries("uaf.targetRemoved", storage)), is: 1, "a target")
      let selection = [UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))]
      let removed = try await storage.removeUAFCredentials(of: "alice", selection) { aaid, key in
        AuditRecord(.uafDeregistered(session: nil, user: "alice", aaid: aaid, key: key), by: .local, at: 1070)
      }
      try expect(removed, is: 1, "keys that are removed")
      try await expect(count(text, in: entries("uaf.deregistered", storage)), is: 1, "a key")
      let revoked = AuditRecord(.deviceRevoked(user: "alice", device: device), by: .local, at: 1080)
      _ = try await storage.revokeDevice(device, audit: revoked) { loss in
        switch loss {
        case .container(let id): AuditRecord(.containerRevoked(container: id), by: .local, at: 1080)
        case .key(let user, let aaid, let key):
          AuditRecord(.uafRevoked(user: user, aaid: aaid, key: key), by: .local, at: 1080)
        case .target(let id): AuditRecord(.uafTargetRemoved(target: id), by: .local, at: 1080)
        }
      }
      try await expect(count(text, in: entries("container.revoked", storage)), is: 1, "the container")
      try await expect(count(text, in: entries("uaf.revoked", storage)), is: 1, "the other key")
      try await expect(count(text, in: entries("uaf.targetRemoved", storage)), is: 2, "the other target")
      try await expect(count(text, in: entries("device.revoked", storage)), is: 1, "the device")
    },
  ]
}
