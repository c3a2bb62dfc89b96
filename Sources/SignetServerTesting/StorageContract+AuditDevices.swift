import SignetCrypto
import SignetStorage

extension StorageContract {
  /// Returns the entries of one kind of event.
  private static func entries(_ event: String, _ storage: Storage) async throws -> [String] {
    try await log(of: storage).filter { $0.contains("\"event\":\"\(event)\"") }
  }

  private static func count(_ text: String, in entries: [String]) -> Int {
    entries.count { $0.contains(text) }
  }

  /// Expects the entries of one kind about a UAF operation to name these devices, in order; `nil` is for no device.
  private static func expectEntries(
    _ event: String, of session: String, on devices: [ID<DeviceRecord>?], _ storage: Storage
  ) async throws {
    let found = try await entries(event, storage).filter { $0.contains("\"session\":\"\(session)\"") }
    try expect(found.count, is: devices.count, "entries \(event) of \(session)")
    for (entry, device) in zip(found, devices) {
      let text = "\"device\":" + (device.map { "\"\($0)\"" } ?? "")
      try expect(entry.contains(text), is: device != nil, "\(text) in \(entry)")
    }
  }

  private static func respond(
    _ storage: Storage, _ session: ID<UAFOperationRecord>, _ key: String, counter: UInt32
  ) async throws -> UAFOutcome {
    let answer = AuditEvent.UAFAnswer(
      session: session, user: "alice", keys: "[]", transaction: nil, outdated: [])
    let keys = #"[{"aaid":"7357#0001","keyId":"\#(Base64URL.encode(Array(key.utf8)))"}]"#
    return try await storage.finishUAFAuthentication(
      "\(session)", of: "alice", UAFOperationEnd(status: 1200, authenticators: keys, time: 1050),
      uses: [CounterUpdate(aaid: "7357#0001", keyID: Array(key.utf8), signCounter: counter)]
    ) { outcome in
      let event: AuditEvent =
        switch outcome {
        case .accepted: .uafAuthenticated(answer)
        case .clonedAuthenticator: .uafQuarantined(answer, reason: "copied")
        default: .uafAuthenticationRefused(answer, reason: "refused")
        }
      return AuditRecord(event, by: .user("alice"), at: 1050)
    }
  }

  static let auditDevices: [Check] = [
    Check("an event about what is on a device, or by a device, names the device") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.register("k1", of: "alice"), is: .accepted, "a key")
      try await expect(storage.addTarget("d1", of: "alice"), is: true, "a target")
      let device = try await storage.only("alice").id
      let key = Array("k1".utf8)
      let deviceEvents: [(String, AuditEvent, AuditActor)] = [
        ("container.renewalAsked", .containerRenewalRequested(container: "c1"), .local),
        ("account.reportRefused", .accountReportRefused(user: "alice", container: "c1"), .container("c1")),
        ("transaction.denied", .transactionDenied(user: "alice", transaction: "t"), .container("c1")),
        ("push.target.removed", .pushTargetRemoved(target: "p"), .container("c1")),
        ("uaf.released", .uafReleased(user: "alice", aaid: "7357#0001", key: key), .local),
        ("uaf.targetChanged", .uafTargetChanged(target: "d1"), .local),
        ("uaf.requested", .uafRequested(session: "s", operation: "Auth", user: "alice"), .target("d1")),
      ]
      for (name, event, actor) in deviceEvents {
        try await storage.append(AuditRecord(event, by: actor, at: 1010))
        let found = try await entries(name, storage)
        try expect(count("\"device\":\"\(device)\"}", in: found), is: 1, name)
      }
      // A container that is unknown, and events on no device.
      let otherEvents: [(String, AuditEvent, AuditActor)] = [
        ("code.accepted", .codeAccepted(user: "alice", .container("c1")), .key("k")),
        ("container.revoked", .containerRevoked(container: "c9"), .local),
        ("transaction.expired", .transactionExpired(transaction: "t"), .server),
      ]
      for (name, event, actor) in otherEvents {
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
        try await expect(storage.register(name, of: "alice"), is: .accepted, "a key")
      }
      for name in ["d1", "d2"] as [ID<UAFTargetRecord>] {
        try await expect(storage.addTarget(name, of: "alice"), is: true, "a target")
      }
      let device = try await storage.only("alice").id
      let text = "\"device\":\"\(device)\""
      // The device follows from the keys that answered.
      try await storage.addUAFOperation(Sample.session("s1", "Auth", of: "alice"), audit: nil)
      let outcome = try await storage.finishUAFAuthentication(
        "s1", of: "alice",
        UAFOperationEnd(status: 1200, authenticators: #"[{"aaid":"7357#0001","keyId":"azE"}]"#, time: 1050),
        uses: [CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 0)]
      ) { _ in
        let answer = AuditEvent.UAFAnswer(
          session: "s1", user: "alice", keys: "[]", transaction: nil, outdated: [])
        return AuditRecord(.uafAuthenticated(answer), by: .anyone, at: 1050)
      }
      try expect(outcome, is: .accepted, "an authentication")
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
      _ = try await storage.revokeDevice(
        device, audit: revoked, lost: Sample.namedLoss(by: .local, at: 1080))
      try await expect(count(text, in: entries("container.revoked", storage)), is: 1, "the container")
      try await expect(count(text, in: entries("uaf.revoked", storage)), is: 1, "the other key")
      try await expect(count(text, in: entries("uaf.targetRemoved", storage)), is: 2, "the other target")
      try await expect(count(text, in: entries("device.revoked", storage)), is: 1, "the device")
    },
    Check("an event about a response of UAF names the device of its keys, if refused too") { storage in
      try await storage.add(Sample.alice)
      try await expect(storage.register("k1", of: "alice", on: "laptop"), is: .accepted, "a key")
      try await expect(storage.register("k2", of: "alice", on: "tablet"), is: .accepted, "a key")
      try await expect(storage.register("k3", of: "alice", on: nil), is: .accepted, "a key")
      try await expect(storage.addTarget("d1", of: "alice", on: "laptop"), is: true, "a target")
      let laptop = try await storage.device(on: "laptop", of: "alice").id
      let tablet = try await storage.device(on: "tablet", of: "alice").id
      try await storage.addUAFOperation(Sample.session("s1", "Auth", of: "alice"), audit: nil)
      try await expect(respond(storage, "s1", "k1", counter: 5), is: .accepted, "the first response")
      try await expectEntries("uaf.authenticated", of: "s1", on: [laptop], storage)
      for key in ["k2", "k3"] {
        try await expect(respond(storage, "s1", key, counter: 0), is: .expired, "a second response")
      }
      try await expectEntries("uaf.refused", of: "s1", on: [tablet, nil], storage)
      var sent = Sample.session("s2", "Auth", of: "alice")
      sent.target = "d1"
      try await storage.addUAFOperation(sent, audit: nil)
      try await expect(respond(storage, "s2", "k2", counter: 0), is: .accepted, "from another device")
      try await expectEntries("uaf.authenticated", of: "s2", on: [tablet], storage)
      for session in ["s3", "s4"] as [ID<UAFOperationRecord>] {
        try await storage.addUAFOperation(Sample.session(session, "Auth", of: "alice"), audit: nil)
      }
      let copied = CounterUpdate(aaid: "7357#0001", keyID: Array("k1".utf8), signCounter: 5)
      try await expect(
        respond(storage, "s3", "k1", counter: 5), is: .clonedAuthenticator(copied), "a copied key")
      try await expectEntries("uaf.quarantined", of: "s3", on: [laptop], storage)
      try await expect(respond(storage, "s4", "k1", counter: 6), is: .keyUnknown, "a key in quarantine")
      try await expectEntries("uaf.refused", of: "s4", on: [laptop], storage)
    },
    Check("an event about a registration of UAF names the device on which the keys are") { storage in
      try await storage.add(Sample.alice)
      var credential = UAFCredentialRecord(
        aaid: "7357#0001", keyID: [1], user: "alice", publicKey: [4], algorithm: 1, keyFormat: 0x100,
        signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 1000)
      credential.device = "laptop"
      // The key exists already the second time.
      for (session, expected) in [("s1", .accepted), ("s2", .keyExists)] as [(String, UAFOutcome)] {
        try await storage.addUAFOperation(Sample.session("\(session)", "Reg", of: "alice"), audit: nil)
        let outcome = try await storage.finishUAFRegistration(
          "\(session)", UAFOperationEnd(status: 1200, time: 1050), adding: [credential.new], limit: 4
        ) { outcome in
          let event: AuditEvent =
            outcome == .accepted
            ? .uafRegistered(session: "\(session)", user: "alice", keys: "[]")
            : .uafRegistrationRefused(session: "\(session)", user: "alice", keys: "[]", reason: "known")
          return AuditRecord(event, by: .user("alice"), at: 1050)
        }
        try expect(outcome, is: expected, "registration \(session)")
      }
      let laptop = try await storage.device(on: "laptop", of: "alice").id
      try await expectEntries("uaf.registered", of: "s1", on: [laptop], storage)
      try await expectEntries("uaf.refused", of: "s2", on: [nil], storage)
    },
    Check("an event about a container of a deleted user names no device") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      _ = try await storage.deleteUser("alice", subject: "~new", at: 1010, audit: event("deleted")) { _ in
        event("ended")
      }
      try await storage.append(AuditRecord(.containerRevoked(container: "c1"), by: .local, at: 1020))
      let found = try await entries("container.revoked", storage)
      try expect(found.count, is: 1, "entries")
      try expect(count("\"device\"", in: found), is: 0, "entries with a device")
    },
  ]
}
