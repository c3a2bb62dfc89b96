import SignetCrypto
import SignetStorage

extension StorageContract {
  private static let (first, second) = (
    OutboxReceiver(.securityEvents, "a"), OutboxReceiver(.securityEvents, "b")
  )

  /// Prepares receivers of all events, and a user with two waiting events.
  private static func prepare(_ storage: Storage, _ receivers: OutboxReceiver...) async throws {
    try await storage.add(Sample.alice)
    for receiver in receivers { try await storage.addOutboxReceiver(receiver, lifetime: 100) }
    try await storage.suspend(at: 1010)
    try await storage.resume(at: 1020)
  }

  static let outbox: [Check] = [
    Check("an event is written for each receiver, in the step of the change") { storage in
      try await prepare(storage)
      try await expect(storage.due(at: .max), is: [], "without a receiver")
      try await storage.addOutboxReceiver(first, lifetime: 100)
      try await storage.addOutboxReceiver(second, lifetime: 50)
      try await expect(.exists, "a second a") { try await storage.addOutboxReceiver(first, lifetime: 9) }
      try await storage.suspend(at: 1030)
      try await storage.suspend(at: 1040, is: .unchanged)
      let due = try await storage.due(at: .max)
      try expect(due.map(\.receiver), is: [first, second], "receivers")
      try expect(due.map(\.event.kind), is: [.userSuspended, .userSuspended], "events")
      try expect(due.map(\.event.subject), is: ["~alice", "~alice"], "subjects")
      try expect(due.map(\.event.user), is: ["~alice", "~alice"], "users")
      try expect(due.map(\.created), is: [1030, 1030], "when")
      try expect(due.map(\.expires), is: [1130, 1080], "until when")
      try expect(due.map(\.due), is: [1030, 1030], "due")
      try await expect(storage.due(at: 1029), is: [], "before that")
      for record in due { _ = try await storage.endDelivery(record, next: nil, audit: nil) }
      try await expect(storage.due(at: .max), is: [], "each one once")
      try await expect(storage.removeOutboxReceiver(first), is: true, "the removal of a receiver")
      try await expect(storage.removeOutboxReceiver(first), is: false, "again")
      try await storage.resume(at: 1050)
      try await expect(storage.due(at: .max).map(\.receiver), is: [second], "after that")
    },
    Check("a step that fails leaves no event") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.addOutboxReceiver(first, lifetime: 100)
      let device = try await storage.devices(user: "alice")[0].id
      @Sendable func order(_ id: DeviceCommandID, _ action: DeviceCommandRecord.Action = .lock)
        -> DeviceCommandRecord
      {
        DeviceCommandRecord(id: id, container: "c1", action: action, reason: "", created: 1010)
      }
      try await expect(
        storage.addDeviceCommand(order("o", .unlock), audit: event("order")), is: .added, "a command")
      // The device is locked before its container's order fails because its ID exists.
      try await expect(.exists, "a lock that fails") {
        try await storage.lockDevice(device, reason: "", audit: event("lock")) { _ in
          (order("o"), event("order"))
        }
      }
      try await expect(storage.device(device)?.compliance, is: .open, "the device")
      try await expect(storage.due(at: .max), is: [], "events of the step that failed")
      _ = try await storage.lockDevice(device, reason: "", audit: event("lock")) { _ in
        (order("p"), event("order"))
      }
      let due = try await storage.due(at: .max)
      try expect(due.map(\.event.kind), is: [.deviceLocked], "events of one that does not")
      try expect(due.map(\.event.subject), is: [device.text], "the device")
    },
    Check("a receiver is told of one event after the other, whatever happens to those of others") { storage in
      try await prepare(storage, first, second)
      let due = try await storage.due(at: 2000)
      try expect(due.map(\.receiver), is: [first, second], "one of each receiver")
      try expect(due.map(\.event.kind), is: [.userSuspended, .userSuspended], "the first of each")
      guard let leased = try await storage.leaseDelivery(due[0], until: 2060) else {
        throw Failure(description: "the first is not leased")
      }
      try await expect(storage.due(at: 2059).map(\.receiver), is: [second], "while that is leased")
      try await expect(storage.due(at: 2060).map(\.attempts), is: [1, 0], "after the lease")
      try await expect(storage.endDelivery(leased, next: 2100, audit: nil), is: true, "a try that failed")
      try await expect(storage.due(at: 2099).map(\.receiver), is: [second], "while it waits")
      guard let again = try await storage.due(at: 2100).first,
        let next = try await storage.leaseDelivery(again, until: 2160)
      else { throw Failure(description: "it is not due again") }
      try expect(next.attempts, is: 2, "attempts")
      try await expect(storage.endDelivery(next, next: nil, audit: event("told")), is: true, "the end")
      try await expect(
        storage.due(at: 2100).map(\.event.kind), is: [.userResumed, .userSuspended], "what comes next")
      try await expect(log(of: storage).suffix(1).map(\.self), is: [event("told").text], "log")
    },
    Check("of 50 senders one has a delivery; one that lost its lease changes nothing") { storage in
      try await prepare(storage, first)
      let due = try await storage.due(at: 2000)[0]
      let leases = try await race { _ in try await storage.leaseDelivery(due, until: 2060) }
      try expect(leases.count { $0 != nil }, is: 1, "leases, of 50 at once")
      guard let late = leases.compactMap(\.self).first else { return }
      // The same second as before: the attempt number distinguishes the two leases.
      guard let leased = try await storage.leaseDelivery(late, until: 2060) else {
        throw Failure(description: "no other sender gets it")
      }
      try await expect(storage.endDelivery(late, next: nil, audit: event("late")), is: false, "a late end")
      try await expect(storage.endDelivery(late, next: 5, audit: event("late")), is: false, "a late wait")
      try await expect(storage.due(at: 2060), is: [leased], "the delivery")
      let ends = try await race { _ in try await storage.endDelivery(leased, next: nil, audit: event("told"))
      }
      try expect(ends.count { $0 }, is: 1, "ends, of 50 at once")
      try await expect(storage.leaseDelivery(leased, until: 3000), is: nil, "after the end")
      let texts = try await log(of: storage)
      try expect(texts.count { $0 == event("told").text }, is: 1, "told")
      try expect(texts.contains(event("late").text), is: false, "late")
    },
    Check("what is too old, or of a receiver that is no more, is forgotten") { storage in
      try await prepare(storage, first, second)
      try await expect(storage.removeOutboxReceiver(second), is: true, "the removal")
      try await expect(storage.due(at: .max).map(\.receiver), is: [first], "what is left")
      let day: Int64 = 86_400
      _ = try await storage.sweep(at: 1109 + day) { event("expired \($0)") }
      try await expect(storage.due(at: .max).map(\.event.kind), is: [.userSuspended], "in time")
      _ = try await storage.sweep(at: 1110 + day) { event("expired \($0)") }
      try await expect(storage.due(at: .max).map(\.event.kind), is: [.userResumed], "the first is too old")
      _ = try await storage.sweep(at: 1120 + day) { event("expired \($0)") }
      try await expect(storage.due(at: .max), is: [], "both are")
    },
    Check("a row that this server has not written is marked") { storage in
      let (original, other) = (
        storage.authenticatingRows(with: key(1)), storage.authenticatingRows(with: key(2))
      )
      try await prepare(original, first)
      try await expect(original.due(at: .max).map(\.isAltered), is: [false], "its own")
      try await expect(other.due(at: .max).map(\.isAltered), is: [true], "by another key")
      let due = try await original.due(at: .max)[0]
      let leased = try await original.leaseDelivery(due, until: 2060)
      try expect(leased?.isAltered, is: false, "with a lease")
      try await expect(original.due(at: 2060).map(\.isAltered), is: [false], "after the lease")
    },
  ]

  private static func key(_ byte: UInt8) -> HMACKey {
    HMACKey(SecretBytes(copying: [UInt8](repeating: byte, count: 32)), .sha256)
  }
}

extension Storage {
  fileprivate func due(at time: Int64) async throws -> [OutboxRecord] {
    try await dueDeliveries(on: .securityEvents, at: time, limitPerReceiver: 9)
  }

  fileprivate func suspend(at time: Int64, is outcome: UserChangeOutcome = .changed) async throws {
    let audit = AuditRecord(.userSuspended(user: "alice", reason: ""), by: .local, at: time)
    let found = try await suspendUser("alice", reason: "", subject: "~new", at: time, audit: audit) {
      StorageContract.event("ended \($0)")
    }
    try StorageContract.expect(found, is: outcome, "the suspension")
  }

  fileprivate func resume(at time: Int64) async throws {
    let audit = AuditRecord(.userResumed(user: "alice"), by: .local, at: time)
    try await StorageContract.expect(
      resumeUser("alice", at: time, audit: audit), is: .changed, "the resumption")
  }
}
