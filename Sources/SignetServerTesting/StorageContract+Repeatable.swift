import SignetStorage

extension StorageContract {
  /// The checks of steps that can be repeated without limit and must not fill the audit log.
  static let repeatable: [Check] = [
    Check("what a container can repeat leaves sixty entries an hour, and its real changes leave all theirs") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      let before = try await log(of: storage).count
      try await expect(storage.stage("s0"), is: .staged, "a renewal")
      for number in 1...15 {
        try await expect(storage.report(.open), is: true, "a report")
        try await expect(storage.stage("s\(number)"), is: .staged, "a renewal in the place of another")
        let target = PushTargetRecord(
          id: "t\(number)", container: "c1", name: "", service: "fcm", sealedTarget: [1], created: 1000)
        try await expect(storage.addPushTarget(target, limit: 1, audit: event("added")), is: true, "a target")
        try await expect(storage.rename(target.id), is: true, "a change of it")
        try await expect(
          storage.removePushTarget(target.id, of: "c1", ifSealed: nil, audit: event("removed")), is: true,
          "its removal")
      }
      let entries = try await log(of: storage)
      try expect(entries.count, is: before + 61, "entries, with that of the first renewal")
      let reported = entries.filter { $0.contains(#","silentUntil":3600}"#) }
      try expect(reported.count, is: 1, "entries that say until when others are left out")
      try await expect(storage.pushTargets(container: "c1"), is: [], "what was done all the same")
      for verdict in [ComplianceState.stepUp, .open, .open] {
        try await expect(storage.report(verdict), is: true, "a report")
      }
      try await expect(log(of: storage).count, is: before + 63, "entries with those of changes")
      try await storage.activate("c2", device: 8)
      let others = try await log(of: storage).count
      let target = PushTargetRecord(
        id: "t", container: "c2", name: "", service: "fcm", sealedTarget: [1], created: 1000)
      _ = try await storage.addPushTarget(target, limit: 1, audit: event("added"))
      try await expect(log(of: storage).count, is: others + 1, "entries with another container's")
      for (time, count) in [(3599, 1), (3600, 2), (3600, 3)] as [(Int64, Int)] {
        let own = PushTargetRecord(
          id: "t\(count)", container: "c1", name: "", service: "fcm", sealedTarget: [1], created: 1000)
        let added = AuditRecord(.userAdded(user: "added"), by: .local, at: time)
        _ = try await storage.addPushTarget(own, limit: 9, audit: added)
        try await expect(log(of: storage).count, is: others + count, "entries at \(time)")
      }
    },
    Check("devices that are targets of UAF, and apps, leave sixty entries an hour; others leave all theirs") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.addPushAuthMechanism(
        PushAuthMechanismRecord(
          id: "m1", user: "alice", sealedSecret: [1], challenge: [2], created: 1000, expires: 1900),
        with: nil, audit: event("mechanism"))
      _ = try await storage.registerPushAuthMechanism(
        "m1", named: "app", sealedDevice: [5], at: 1001, audit: event("registered"))
      let before = try await log(of: storage).count
      for number in 0..<70 as Range<UInt8> {
        let isChanged = try await storage.changePushAuthDevice(
          "m1", sealedDevice: [number], digest: [UInt8](repeating: number, count: 32), audit: event("app"))
        try expect(isChanged, is: true, "a change of an app")
      }
      try await expect(log(of: storage).count, is: before + 60, "entries of an app")
      for number in 0..<20 {
        let id: ID<UAFTargetRecord> = "d\(number)"
        let own = AuditRecord(.userAdded(user: "target"), by: .target(id), at: 0)
        try await expect(storage.addTarget(id, by: .user("alice")), is: true, "a target")
        try await expect(
          storage.changeUAFTarget(id, UAFTargetChange(name: "n"), audit: own), is: true, "a change of it")
        if number.isMultiple(of: 2) {
          try await expect(storage.removeUAFTarget(id, audit: own), is: true, "its removal")
        } else {
          try await expect(
            storage.removeUAFDevice(Sample.installation, of: "alice", audit: own), is: true, "its device's")
        }
      }
      try await expect(log(of: storage).count, is: before + 120, "entries of targets")
      try await expect(storage.addTarget("d", by: .target("x")), is: true, "a target beyond them")
      try await expect(log(of: storage).count, is: before + 120, "entries with one beyond them")
      try await expect(
        storage.removeUAFTarget("d", audit: event("removed")), is: true, "an operator's removal")
      try await expect(log(of: storage).count, is: before + 121, "entries with an operator's")
    },
    Check(
      "whoever claims to be a user leaves sixty entries an hour by what is not tried, and so do unknown names"
    ) {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.add(Sample.bob)
      _ = try await storage.setUserCode([5], of: "bob", audit: event("code"))
      let before = try await log(of: storage).count
      for number in 0..<70 {
        try await expect(storage.wait(as: "alice"), is: .waiting(seconds: 9), "a code of alice")
        try await expect(storage.wait(as: "nobody \(number)"), is: .waiting(seconds: 9), "a code of nobody")
      }
      try await expect(log(of: storage).count, is: before + 120, "entries of waits")
      try await expect(storage.wait(as: "nobody", key: "k"), is: .keyRevoked, "by a key that there is not")
      try await expect(storage.submit(nil), is: .refused, "a wrong code")
      try await expect(storage.submit(5), is: .accepted, "a right code")
      try await expect(log(of: storage).count, is: before + 122, "entries with codes that were tried")
      var limits = Sample.limits
      limits.pending = 0
      for number in 0..<70 {
        let outcome = try await storage.addTransaction(
          Sample.transaction("t\(number)", user: "bob"), key: nil, limits: limits
        ) { _ in event("not added") }
        try expect(outcome != .added, "a request beyond what may wait is not added")
      }
      try await expect(log(of: storage).count, is: before + 182, "entries of requests that were not made")
      let code = OTPResult(.locked, wait: nil, audit: event("user code"))
      _ = try await storage.tryUserCode(OTPSubject(user: "bob", client: [1])) { _, _ in code }
      try await expect(log(of: storage).count, is: before + 182, "entries with a user's code")
    },
    Check("what the log has had of an hour is forgotten with the hour, and with its user") { storage in
      try await storage.add(Sample.alice)
      for _ in 0..<61 { _ = try await storage.wait(as: "alice") }
      let before = try await log(of: storage).count
      _ = try await storage.sweep(at: 3599) { event("expired \($0)") }
      _ = try await storage.wait(as: "alice")
      try await expect(log(of: storage).count, is: before, "entries within the hour")
      _ = try await storage.sweep(at: 3600) { event("expired \($0)") }
      for _ in 0..<60 { _ = try await storage.wait(as: "alice") }
      try await expect(log(of: storage).count, is: before + 60, "entries after a sweep")
      _ = try await storage.deleteUser("alice", subject: "~new", at: 1010, audit: event("deleted")) { _ in
        event("ended")
      }
      try await storage.addUser(
        UserRecord(id: "alice", subject: "~second", created: 2000), audit: event("user"))
      _ = try await storage.wait(as: "alice")
      try await expect(log(of: storage).count, is: before + 63, "entries of another user of the name")
    },
  ]
}

extension Storage {
  fileprivate func stage(_ id: ContainerID) async throws -> RenewalOutcome {
    var record = Sample.container(id, activation: "a-c1")
    (record.renews, record.renewals, record.succession) = ("c1", 1, "signed")
    let successor = NewContainer(record, Sample.credential("\(id)"))
    return try await stageRenewal(of: "c1", by: successor, limit: 9) { StorageContract.event("\($0)") }
  }

  /// Sends a requested report of `c1`.
  fileprivate func report(_ verdict: ComplianceState) async throws -> Bool {
    try await setAccountChallenge([1], expires: 200, of: "c1", at: 100)
    let attempt = AccountReportAttempt(
      container: "c1", challenge: [1], time: 150, report: "jws", seen: 0, verdict: verdict, reason: "")
    return try await acceptAccountReport(attempt) { StorageContract.event("report \($0)") }
  }

  fileprivate func rename(_ target: PushTargetID) async throws -> Bool {
    try await changePushTarget(
      target, of: "c1", name: "x", target: nil, audit: StorageContract.event("renamed"))
  }

  fileprivate func addTarget(_ id: ID<UAFTargetRecord>, by actor: AuditActor) async throws -> Bool {
    let record = UAFTargetRecord(
      id: id, user: "alice", device: Sample.installation, name: "\(id)", dispatcher: nil, sealedTarget: [1],
      signatureKey: [1], encryptionKey: nil, created: 1000)
    return try await addUAFTarget(
      record, limit: 100, audit: AuditRecord(.userAdded(user: "target"), by: actor, at: 0))
  }

  /// Sends a code from an address that must wait.
  fileprivate func wait(as user: UserID, key: ID<APIKeyRecord>? = nil) async throws -> CodeOutcome {
    try await attempt(OTPSubject(user: user, client: [1], key: key)) {
      OTPResult(.waiting(seconds: 9), wait: $0.wait, audit: StorageContract.event("code"))
    }
  }
}
