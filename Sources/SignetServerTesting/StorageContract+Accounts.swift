import SignetStorage
import SignetSystem

extension StorageContract {
  static let accounts: [Check] = [
    Check("a lock counts at once: codes are refused, approvals too, denials are not; an unlock ends it") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for id in ["t1", "t2", "t3"] as [TransactionID] {
        // Requests to alice would end with the lock.
        var transaction = Sample.transaction(id)
        transaction.user = nil
        try await storage.addTransaction(transaction, audit: event("transaction"))
      }
      try await expect(
        storage.accountState(of: "c1")?.compliance, is: .open, "the compliance state of the beginning")
      try await expect(storage.accountState(of: "c2"), is: nil, "the state of no container")
      let number = try await storage.transactionChanges(after: nil).last
      try await expect(storage.order("o1", .lock), is: true, "a lock")
      try await expect(storage.order("o2", .lock, container: "c2"), is: false, "a lock of nothing")
      let state = try await storage.accountState(of: "c1")
      try expect(state?.compliance, is: .locked, "the compliance state")
      try expect(state?.reason, is: "why", "the reason")
      try expect(state?.revision, is: 1, "the revision")
      try await expect(storage.container("c1")?.reportRequested, is: 1, "what the device has to hear of")
      try await expect(storage.transactionChanges(after: number).users, is: ["alice"], "who waits is told")
      try await expect(storage.submit(5), is: .refused, "a code")
      try await expect(storage.decide("t1", Sample.decision()), is: .containerLocked, "an approval")
      try await expect(storage.decide("t1", Sample.decision(.denied)), is: .decided, "a denial")
      try await expect(storage.decide("t2", Sample.decision(.reported)), is: .decided, "a report")
      try await expect(storage.order("o3", .unlock), is: true, "an unlock")
      try await expect(storage.container("c1")?.compliance, is: .open, "the compliance state after it")
      try await expect(storage.decide("t3", Sample.decision()), is: .decided, "an approval after it")
      try await expect(storage.submit(5), is: .accepted, "a code after it")
      try await expect(
        storage.deviceCommands(of: "c1").map(\.id), is: ["o1", "o3"], "the commands, oldest first")
    },
    Check("a report answers an open challenge, once; what it comes to does not end an operator's lock") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.report([1], .locked), is: false, "a report without a challenge")
      try await storage.setAccountChallenge([1], expires: 200, of: "c1", at: 100)
      try await expect(storage.report([2], .locked), is: false, "another answer")
      try await expect(storage.report([1], .locked, at: 200), is: false, "a late answer")
      try await expect(storage.report([1], .stepUp, at: 199), is: true, "the answer")
      try await expect(storage.report([1], .open), is: false, "the same again")
      try await expect(storage.container("c1")?.compliance, is: .stepUp, "the compliance state")
      try await expect(storage.submit(5), is: .refused, "a code")
      try await expect(storage.order("o1", .lock), is: true, "a lock")
      try await storage.setAccountChallenge([3], expires: 200, of: "c1", at: 100)
      try await expect(storage.report([3], .open), is: true, "a report that finds nothing")
      try await expect(storage.container("c1")?.compliance, is: .locked, "the operator's lock")
      try await expect(storage.order("o2", .unlock), is: true, "an unlock")
      try await expect(storage.container("c1")?.compliance, is: .open, "the compliance state at the end")
      try await expect(storage.accountState(of: "c1")?.report, is: "jws 3", "the last report")
    },
    Check(
      "a decision sees when the device reported last, and keeps it; where a report is due it is not taken"
    ) {
      storage in
      let stored = try await storage.asked(["t1", "t2"])
      @Sendable func decide(_ id: TransactionID, request: UInt8, isDue: Bool) async throws -> DecisionOutcome
      {
        try await storage.decide(id, request: request, by: stored, isDue: isDue)
      }
      try await expect(storage.lastReport(of: "c1"), is: nil, "the report of the beginning")
      try await expect(storage.lastReport(of: "c9"), is: nil, "the report of no container")
      try await expect(
        decide("t1", request: 1, isDue: true), is: .reportDue(reason: "-1"), "without a report")
      try await storage.setAccountChallenge([1], expires: 200, of: "c1", at: 100)
      try await expect(storage.lastReport(of: "c1"), is: nil, "what was asked for")
      try await expect(storage.report([1], .open, at: 150), is: true, "a report")
      try await expect(storage.lastReport(of: "c1"), is: 150, "when it came")
      try await expect(decide("t1", request: 2, isDue: true), is: .reportDue(reason: "150"), "an old one")
      try await expect(storage.transaction("t1")?.state, is: .pending, "what waits for a report")
      try await expect(decide("t1", request: 2, isDue: false), is: .replayed, "the same request again")
      try await expect(decide("t1", request: 3, isDue: false), is: .decided, "with a report")
      try await expect(storage.transaction("t1")?.decision?.lastReport, is: 150, "what is kept")
      try await expect(storage.decide("t2", Sample.decision()), is: .decided, "one that does not ask")
      try await expect(storage.transaction("t2")?.decision?.lastReport, is: nil, "nothing is kept")
    },
    Check("50 reports with one challenge at once: one is taken") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.setAccountChallenge([1], expires: 200, of: "c1", at: 100)
      let accepted = try await race { _ in try await storage.report([1], .open) }
      try expect(accepted.filter { $0 }.count, is: 1, "reports that are taken")
    },
    Check("an acknowledgement is kept once, and that of a wipe ends the container") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.order("o1", .lock), is: true, "a lock")
      try await expect(storage.order("o2", .wipe), is: true, "a wipe")
      try await expect(
        storage.container("c1")?.compliance, is: .locked, "the compliance state before it is done")
      try await expect(
        storage.receive("o1", container: "c2"), is: false, "an acknowledgement of another container")
      try await expect(storage.receive("o3"), is: false, "an acknowledgement of nothing")
      try await expect(storage.receive("o1"), is: true, "an acknowledgement")
      try await expect(storage.receive("o1", "other"), is: true, "a second one")
      let orders = try await storage.deviceCommands(of: "c1")
      try expect(orders.map(\.receipt), is: ["receipt", nil], "the acknowledgements")
      try await expect(storage.container("c1")?.state, is: .active, "the state")
      try await expect(storage.receive("o2"), is: true, "the acknowledgement of the wipe")
      let ended = try await storage.container("c1")
      try expect(ended?.state, is: .revoked, "the state after it")
      try expect(ended?.ended, is: "wiped", "how it ended")
      try await expect(storage.credential("c1"), is: nil, "what made its codes")
      try await expect(storage.order("o4", .lock), is: false, "a command after it")
    },
    Check("what is to be deleted is not unlocked, and reports add no second command to delete it") {
      storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      for (challenge, isNew) in [([1], true), ([2], false)] as [([UInt8], Bool)] {
        try await storage.setAccountChallenge(challenge, expires: 200, of: "c1", at: 100)
        let revision = try await storage.accountState(of: "c1")?.revision ?? 0
        let wipe = DeviceCommandRecord(
          id: "w\(challenge[0])", container: "c1", action: .wipe, reason: "found", created: 150)
        try await expect(storage.report(challenge, .locked, order: wipe), is: true, "a report")
        try await expect(
          storage.accountState(of: "c1")?.revision, is: revision + (isNew ? 1 : 0), "the revision")
      }
      try await expect(storage.deviceCommands(of: "c1").map(\.id), is: ["w1"], "the commands")
      let unlock = DeviceCommandRecord(id: "u1", container: "c1", action: .unlock, reason: "", created: 160)
      try await expect(
        storage.addDeviceCommand(unlock, audit: event("order")), is: .toBeWiped, "an unlock of it")
      try await expect(storage.container("c1")?.compliance, is: .locked, "the compliance state")
      try await expect(storage.order("o1", .lock), is: true, "a lock, which changes nothing of that")
    },
    Check("what the device has to hear of ends when it has seen and done everything") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(
        storage.setAccountPolicies([1], of: "c1", audit: event("policies")), is: true, "policies")
      try await expect(
        storage.setAccountPolicies([1], of: "c2", audit: event("policies")), is: false, "of nothing")
      try await expect(storage.order("o1", .lock), is: true, "a lock")
      for (seen, expected) in [(1, 2), (2, 2)] as [(Int64, Int64)] {
        try await storage.setAccountChallenge([1], expires: 200, of: "c1", at: 100)
        _ = try await storage.report([1], .open, seen: seen)
        try await expect(storage.container("c1")?.reportRequested, is: expected, "with a command to do")
      }
      _ = try await storage.receive("o1")
      try await storage.setAccountChallenge([1], expires: 200, of: "c1", at: 100)
      _ = try await storage.report([1], .open, seen: 2)
      try await expect(storage.container("c1")?.reportRequested, is: 0, "with nothing to do")
      try await expect(storage.accountState(of: "c1")?.policies, is: [1], "the policies")
    },
  ]
}

extension Storage {
  fileprivate func order(
    _ id: DeviceCommandID, _ action: DeviceCommandRecord.Action, container: ContainerID = "c1"
  ) async throws -> Bool {
    try await addDeviceCommand(
      DeviceCommandRecord(id: id, container: container, action: action, reason: "why", created: 100),
      audit: StorageContract.event("order")) == .added
  }

  fileprivate func receive(
    _ id: DeviceCommandID, _ receipt: String = "receipt", container: ContainerID = "c1"
  ) async throws -> Bool {
    try await receiveDeviceCommand(
      id, of: container, receipt: receipt, at: 150, audit: StorageContract.event("receipt"), lost: Sample.lost
    )
  }

  /// Decides using the last report, or reports that one is due, and the time of the last one.
  fileprivate func decide(
    _ id: TransactionID, request: UInt8, by container: ContainerRecord, isDue: Bool
  ) async throws -> DecisionOutcome {
    let attempt = DecisionAttempt(
      transaction: id, by: SignerRecord(container), request: [UInt8](repeating: request, count: 16),
      expires: 5000)
    let outcome = decideTransaction(attempt, limits: Sample.limits) {
      (_, lastReport) throws(StorageFailure) -> DecisionVerdict in
      var decision = Sample.decision()
      decision.lastReport = try lastReport()
      guard isDue else { return .accept(decision, isSigned: true, hasRightNumber: true) }
      return .reportDue(reason: "\(decision.lastReport ?? -1)")
    } audit: {
      StorageContract.event("decision \($0)")
    }
    return try await outcome.value
  }

  fileprivate func report(
    _ challenge: [UInt8], _ verdict: ComplianceState, at time: Int64 = 150, seen: Int64 = 0,
    order: DeviceCommandRecord? = nil
  ) async throws -> Bool {
    try await acceptAccountReport(
      AccountReportAttempt(
        container: "c1", challenge: challenge, time: time, report: "jws \(challenge[0])", seen: seen,
        verdict: verdict, reason: verdict == .open ? "" : "found", order: order)
    ) { StorageContract.event("report \($0)") }
  }
}
