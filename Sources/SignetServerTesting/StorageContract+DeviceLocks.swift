import SignetCrypto
import SignetStorage

extension StorageContract {
  /// A step that accepts something from an object on a device, or binds something to the device.
  private struct DeviceStep: Sendable {
    /// The method of ``SignetStorage/Storage``.
    let step: String
    let name: String
    /// Prepares the state before the device is locked; its container exists already.
    let prepare: @Sendable (Storage, _ user: UserID) async throws -> Void
    /// Runs the step; returns true if it accepted.
    let accepts: @Sendable (Storage, _ user: UserID) async throws -> Bool
  }

  /// The steps that accept nothing from objects on a locked device, by the names of their methods.
  static let deviceStepNames = Set(deviceSteps.map(\.step))

  /// All steps: add each new step that accepts something from an object on a device.
  private static let deviceSteps: [DeviceStep] = [
    DeviceStep(step: "finishUAFRegistration", name: "a UAF registration") { _, _ in
    } accepts: { storage, user in
      try await storage.register("k-\(user)", of: user) == .accepted
    },
    DeviceStep(step: "finishUAFAuthentication", name: "a UAF authentication") {
      _ = try await $0.register("k-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.authenticate("k-\(user)", of: user) == .accepted
    },
    DeviceStep(
      step: "finishUAFAuthentication", name: "a UAF authentication by a key of another device and one of this"
    ) {
      _ = try await $0.register("k-\($1)", of: $1)
      _ = try await $0.register("o-\($1)", of: $1, on: "tablet")
    } accepts: { storage, user in
      try await storage.authenticate("o-\(user)", "k-\(user)", of: user) == .accepted
    },
    DeviceStep(step: "redeemUAFToken", name: "the redemption of a token for a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
      try await $0.addToken("s-\($1)", of: $1, for: "t-\($1)")
    } accepts: { storage, user in
      try await storage.redeem("s-\(user)")
    },
    DeviceStep(step: "addUAFOperation", name: "a token for a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.addToken("s-\(user)", of: user, for: "t-\(user)")
      return true
    },
    DeviceStep(step: "addUAFTarget", name: "a target") { _, _ in
    } accepts: { storage, user in
      try await storage.addTarget("t-\(user)", of: user)
    },
    DeviceStep(step: "changeUAFTarget", name: "another address of a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.changeUAFTarget(
        "t-\(user)", UAFTargetChange(sealedTarget: [2]), audit: event("changed"))
    },
    DeviceStep(step: "changeUAFTarget", name: "another name of a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.changeUAFTarget("t-\(user)", UAFTargetChange(name: "x"), audit: event("changed"))
    },
    DeviceStep(step: "finishActivation", name: "the first message of another container") { storage, user in
      try await storage.add(Sample.activation("a-n-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.finish(
        "a-n-\(user)", Sample.container("n-\(user)", activation: "a-n-\(user)", user: user)) == .staged
    },
    DeviceStep(step: "confirmContainer", name: "the confirmation of another container") { storage, user in
      try await storage.add(Sample.activation("a-n-\(user)", user: user))
      _ = try await storage.finish(
        "a-n-\(user)", Sample.container("n-\(user)", activation: "a-n-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.confirm("n-\(user)") == .activated
    },
  ]

  /// The steps that lock a device, and one after which it is open again.
  static let lockSteps: [(user: UserID, lock: @Sendable (Storage, String) async throws -> Void)] = [
    (
      "operator",
      { storage, user in
        try await expect(
          storage.lockDevice(of: "\(user)"), is: ["l-c-\(user)"], "the commands to the container")
      }
    ),
    ("container", { try await $0.order(.lock, "c-\($1)") }),
    ("wipe", { try await $0.order(.wipe, "c-\($1)") }),
    ("report", { try await $0.report(.locked, of: "c-\($1)") }),
    (
      "deletion",
      { storage, user in
        try await storage.order(.lock, "c-\(user)")
        try await expect(storage.end("c-\(user)", as: "deleted"), is: true, "the deletion")
      }
    ),
  ]

  static let deviceLocks: [Check] =
    deviceSteps.map { step in
      Check("\(step.name): accepted of a device that is open, and of none that is locked") { storage in
        let users = ["open", "unlocked", "stepUp"] + lockSteps.map(\.user)
        for user in users {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          try await step.prepare(storage, user)
        }
        for (user, lock) in lockSteps { try await lock(storage, "\(user)") }
        _ = try await storage.lockDevice(of: "unlocked")
        try await expect(
          storage.unlockDevice(of: "unlocked"), is: ["l-c-unlocked"], "the commands to the container")
        try await storage.report(.stepUp, of: "c-stepUp")
        for user in ["open", "unlocked", "stepUp"] as [UserID] {
          try await expect(step.accepts(storage, user), is: true, "of a device that is \(user)")
        }
        for (user, _) in lockSteps {
          try await expect(.deviceLocked, "of a device locked by: \(user)") {
            try await step.accepts(storage, user)
          }
        }
      }
    } + [
      Check(
        "a locked device can still have keys, targets and itself taken away, and nothing of them comes back"
      ) {
        storage in
        try await storage.add(Sample.alice)
        for key in ["k1", "k2"] { _ = try await storage.register(key, of: "alice") }
        for target in ["t1", "t2", "t3"] as [ID<UAFTargetRecord>] {
          _ = try await storage.addTarget(target, of: "alice")
        }
        try await expect(storage.lockDevice(of: "alice"), is: [], "commands without a container")
        try await storage.addToken("s1", of: "alice", for: "t1", "Dereg")
        try await expect(storage.redeem("s1"), is: true, "a token that takes keys away")
        let key = UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))
        let outcome = try await storage.finishUAFDeregistration(
          "s1", of: "alice", UAFOperationEnd(status: 1200, time: 1050), removing: [key], audit: event("ended")
        ) { _, _ in event("removed") }
        try expect(outcome, is: .accepted, "the deregistration")
        try await expect(
          storage.changeUAFTarget("t2", UAFTargetChange(sealedTarget: []), audit: event("gone")), is: true,
          "an address that goes")
        try await expect(storage.removeUAFTarget("t2", audit: event("removed")), is: true, "a target")
        try await expect(
          storage.removeUAFDevice(Sample.installation, of: "alice", audit: event("removed")), is: true,
          "the device")
        try await expect(storage.uafCredentials(user: "alice"), is: [], "the keys")
        try await expect(storage.uafTargets(user: "alice"), is: [], "the targets")
        // A locked device cannot be enrolled again under the same name.
        try await expect(.deviceLocked, "a new key") { try await storage.register("k3", of: "alice") }
      },
      Check("a lock of a device that has UAF keys alone holds until it ends") { storage in
        try await storage.add(Sample.alice)
        try await storage.add(Sample.bob)
        _ = try await storage.register("k1", of: "alice")
        _ = try await storage.register("k2", of: "alice", on: "tablet")
        _ = try await storage.register("k3", of: "alice", on: nil)
        _ = try await storage.register("k4", of: "bob")
        for (key, session) in [("k1", "s1"), ("k2", "s2"), ("k3", "s3")] {
          _ = try await storage.authenticate(key, of: "alice", "\(session)")
        }
        let device = try await storage.only("alice")
        try expect(device.installation, is: Sample.installation, "what it calls itself")
        try await expect(storage.device(device.id), is: device, "the device by its id")
        try await expect(storage.lockDevice(of: "alice"), is: [], "the commands")
        let locked = try await storage.only("alice")
        try expect(locked.compliance, is: .locked, "how it stands")
        try expect(locked.isOrderedLocked, is: true, "that an operator said so")
        try expect(locked.orderedReason, is: "why", "the reason")
        try expect(locked.ordered, is: 1010, "since when")
        for (session, locked) in [("s1", [Sample.installation]), ("s2", []), ("s3", [])] {
          try await expect(
            storage.lockedDevices(of: Storage.basis("\(session)")), is: Set(locked), "those of \(session)")
        }
        try await expect(
          storage.lockedDevices(of: .operation("s1", of: "bob") { _, _ in true }), is: nil, "of another user")
        try await expect(.deviceLocked, "a key of it") { try await storage.authenticate("k1", of: "alice") }
        for (key, user) in [("k2", "alice"), ("k3", "alice"), ("k4", "bob")] {
          try await expect(
            storage.authenticate(key, of: "\(user)"), is: .accepted, "\(key), which is elsewhere")
        }
        try await expect(storage.unlockDevice(of: "alice"), is: [], "the commands of the unlock")
        try await expect(storage.authenticate("k1", of: "alice"), is: .accepted, "the key afterwards")
        try await expect(storage.lockDevice("nothing"), is: .unknown, "a lock of nothing")
        try await expect(storage.unlockDevice("nothing"), is: .unknown, "an unlock of nothing")
      },
      Check("a device's own lock reaches its container, whose unlock does not end it") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
        try await expect(storage.lockDevice(of: "alice"), is: ["l-c1"], "the commands")
        try await expect(storage.container("c1")?.compliance, is: .locked, "the container")
        try await expect(storage.deviceCommands(of: "c1").map(\.action), is: [.lock], "what its device hears")
        try await expect(storage.submit(5), is: .refused, "a code")
        try await expect(storage.decide("t1", Sample.decision()), is: .containerLocked, "an approval")
        try await expect(.deviceLocked, "an unlock of the container") {
          try await storage.order(.unlock, "c1")
        }
        // A lock command to it is still accepted.
        try await storage.order(.lock, "c1")
        try await expect(storage.unlockDevice(of: "alice"), is: ["l-c1"], "the commands of the unlock")
        try await expect(storage.container("c1")?.compliance, is: .open, "the container afterwards")
        try await expect(storage.submit(5), is: .accepted, "a code afterwards")
        // Unlocking the device also ends an operator's lock of the container, but not a wipe.
        try await storage.order(.lock, "c1")
        _ = try await storage.unlockDevice(of: "alice")
        try await expect(storage.container("c1")?.compliance, is: .open, "the container without its lock")
        try await storage.order(.wipe, "c1")
        try await expect(
          storage.unlockDevice(storage.only("alice").id), is: .toBeWiped, "an unlock of what is to be deleted"
        )
        try await expect(storage.only("alice").compliance, is: .locked, "how it stands")
      },
      Check("a lock ends registrations that are under way, and no other operation") { storage in
        try await storage.add(Sample.alice)
        _ = try await storage.register("k1", of: "alice")
        _ = try await storage.addTarget("t1", of: "alice")
        _ = try await storage.addTarget("t2", of: "alice", on: "tablet")
        for (id, operation) in [("reg", "Reg"), ("auth", "Auth"), ("dereg", "Dereg")] {
          try await storage.addUAFOperation(Sample.session("\(id)", operation, of: "alice"), audit: nil)
        }
        for target in ["t1", "t2"] as [ID<UAFTargetRecord>] {
          try await storage.addToken("reg-\(target)", of: "alice", for: target, "Reg")
        }
        _ = try await storage.lockDevice(of: "alice")
        for id in ["reg", "reg-t1"] as [ID<UAFOperationRecord>] {
          try await expect(storage.uafOperation(id)?.state, is: .failed, "\(id)")
          try await expect(storage.uafOperation(id)?.hasEndedAsForbidden, is: true, "how \(id) ended")
        }
        for id in ["auth", "dereg"] as [ID<UAFOperationRecord>] {
          try await expect(storage.uafOperation(id)?.state, is: .requested, "\(id)")
        }
        try await expect(storage.uafOperation("reg-t2")?.state, is: .tokenCreated, "one for another device")
      },
      Check("a lock goes on to the successor of a container, and the device stays locked") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        _ = try await storage.register("k1", of: "alice")
        var successor = Sample.container("c2", activation: "a-c1")
        (successor.renews, successor.renewals, successor.succession) = ("c1", 1, "signed")
        _ = try await storage.stageRenewal(
          of: "c1", by: NewContainer(successor, Sample.credential("c2")), limit: 3
        ) { _ in event("renewal") }
        try await storage.order(.lock, "c1")
        try await expect(storage.confirm("c2"), is: .activated, "the successor")
        try await expect(storage.container("c2")?.compliance, is: .locked, "how it stands")
        try await expect(storage.only("alice").compliance, is: .locked, "how the device stands")
        try await storage.order(.unlock, "c2")
        try await expect(storage.authenticate("k1", of: "alice"), is: .accepted, "the key after the unlock")
      },
      Check("a locked device stays locked, whatever end its container tells") { storage in
        for end in ["deleted", "reset", "wiped"] as [UserID] {
          try await storage.add(UserRecord(id: end, created: 1000))
          try await storage.activate("c-\(end)", user: end)
          try await storage.order(.lock, "c-\(end)")
          _ = try await storage.end("c-\(end)", as: "\(end)")
          try await expect(storage.only(end).compliance, is: .locked, "\(end)")
        }
        try await storage.add(Sample.alice)
        try await storage.activate("c")
        try await storage.order(.lock, "c")
        try await storage.order(.wipe, "c")
        _ = try await storage.end("c", as: "wiped")
        try await expect(storage.only("alice").compliance, is: .open, "one that was wiped by a command")
      },
      Check("50 locks, and logins at once: each login is before the lock, or refused") { storage in
        try await storage.add(Sample.alice)
        _ = try await storage.register("k", of: "alice")
        let device = try await storage.only("alice").id
        let isTaken = try await race { number in
          if number == contestants / 2 {
            _ = try await storage.lockDevice("\(device)")
            return false
          }
          do {
            return try await storage.authenticate("k", of: "alice", "s\(number)") == .accepted
          } catch StorageFailure.deviceLocked { return false }
        }
        let succeeded = try await (0..<contestants).asyncCount {
          try await storage.uafOperation("s\($0)")?.state == .succeeded
        }
        try expect(isTaken.count { $0 }, is: succeeded, "logins that were taken")
        try await expect(.deviceLocked, "one after them") { try await storage.authenticate("k", of: "alice") }
      },
    ]
}

extension Range<Int> {
  fileprivate func asyncCount(_ isCounted: (Int) async throws -> Bool) async throws -> Int {
    var count = 0
    for number in self where try await isCounted(number) { count += 1 }
    return count
  }
}
