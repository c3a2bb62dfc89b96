import SignetCrypto
import SignetStorage

extension StorageContract {
  /// A step that accepts something of what is bound to a device, or binds something to it.
  private struct DeviceStep: Sendable {
    let name: String
    /// What has to be there before the device is locked; its container is.
    let prepare: @Sendable (Storage, _ user: String) async throws -> Void
    /// Whether the step accepted.
    let accepts: @Sendable (Storage, _ user: String) async throws -> Bool
  }

  /// All of them: a new step that accepts belongs here, or asks whether the container is locked.
  private static let deviceSteps: [DeviceStep] = [
    DeviceStep(name: "a UAF registration") { _, _ in
    } accepts: { storage, user in
      try await storage.register("k-\(user)", of: user) == .taken
    },
    DeviceStep(name: "a UAF authentication") {
      _ = try await $0.register("k-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.authenticate("k-\(user)", of: user) == .taken
    },
    DeviceStep(name: "a UAF authentication by a key of another device and one of this") {
      _ = try await $0.register("k-\($1)", of: $1)
      _ = try await $0.register("o-\($1)", of: $1, on: "tablet")
    } accepts: { storage, user in
      try await storage.authenticate("o-\(user)", "k-\(user)", of: user) == .taken
    },
    DeviceStep(name: "the redemption of a token for a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
      try await $0.addToken("s-\($1)", of: $1, for: "t-\($1)")
    } accepts: { storage, user in
      try await storage.redeem("s-\(user)")
    },
    DeviceStep(name: "a token for a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.addToken("s-\(user)", of: user, for: "t-\(user)")
      return true
    },
    DeviceStep(name: "a target") { _, _ in
    } accepts: { storage, user in
      try await storage.addTarget("t-\(user)", of: user)
    },
    DeviceStep(name: "another address of a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.changeUAFTarget(
        "t-\(user)", UAFTargetChange(sealedTarget: [2]), audit: event("changed"))
    },
    DeviceStep(name: "another name of a target") {
      _ = try await $0.addTarget("t-\($1)", of: $1)
    } accepts: { storage, user in
      try await storage.changeUAFTarget("t-\(user)", UAFTargetChange(name: "x"), audit: event("changed"))
    },
    DeviceStep(name: "the first message of another container") { storage, user in
      try await storage.add(Sample.activation("a-n-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.finish(
        "a-n-\(user)", Sample.container("n-\(user)", activation: "a-n-\(user)", user: user)) == .staged
    },
    DeviceStep(name: "the confirmation of another container") { storage, user in
      try await storage.add(Sample.activation("a-n-\(user)", user: user))
      _ = try await storage.finish(
        "a-n-\(user)", Sample.container("n-\(user)", activation: "a-n-\(user)", user: user))
    } accepts: { storage, user in
      try await storage.confirm("n-\(user)") == .activated
    },
  ]

  /// The ways in which a device gets locked, and one in which it is open again.
  private static let locks: [(user: String, @Sendable (Storage, String) async throws -> Void)] = [
    (
      "operator",
      { storage, user in
        try await expect(storage.lockDevice(of: user), is: ["l-c-\(user)"], "the orders to the container")
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

  static let devices: [Check] =
    deviceSteps.map { step in
      Check("\(step.name): accepted of a device that is open, and of none that is locked") { storage in
        let users = ["open", "unlocked", "stepUp"] + locks.map(\.user)
        for user in users {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          try await step.prepare(storage, user)
        }
        for (user, lock) in locks { try await lock(storage, user) }
        _ = try await storage.lockDevice(of: "unlocked")
        try await expect(
          storage.unlockDevice(of: "unlocked"), is: ["l-c-unlocked"], "the orders to the container")
        try await storage.report(.stepUp, of: "c-stepUp")
        for user in ["open", "unlocked", "stepUp"] {
          try await expect(step.accepts(storage, user), is: true, "of a device that is \(user)")
        }
        for (user, _) in locks {
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
        for target in ["t1", "t2", "t3"] { _ = try await storage.addTarget(target, of: "alice") }
        try await expect(storage.lockDevice(of: "alice"), is: [], "orders without a container")
        try await storage.addToken("s1", of: "alice", for: "t1", "Dereg")
        try await expect(storage.redeem("s1"), is: true, "a token that takes keys away")
        let key = UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))
        let outcome = try await storage.finishUAFDeregistration(
          "s1", of: "alice", UAFSessionEnd(status: 1200, time: 1050), removing: [key], audit: event("ended")
        ) { _, _ in event("removed") }
        try expect(outcome, is: .taken, "the deregistration")
        try await expect(
          storage.changeUAFTarget("t2", UAFTargetChange(sealedTarget: []), audit: event("gone")), is: true,
          "an address that goes")
        try await expect(storage.removeUAFTarget("t2", audit: event("removed")), is: true, "a target")
        try await expect(
          storage.removeUAFDevice(Sample.installation, of: "alice", audit: event("removed")), is: true,
          "the device")
        try await expect(storage.uafCredentials(user: "alice"), is: [], "the keys")
        try await expect(storage.uafTargets(user: "alice"), is: [], "the targets")
        // Who is locked does not begin anew under the same name.
        try await expect(.deviceLocked, "a new key") { try await storage.register("k3", of: "alice") }
      },
      Check("a lock of a device that has UAF keys alone holds until it ends") { storage in
        try await storage.add(Sample.alice)
        try await storage.add(Sample.bob)
        _ = try await storage.register("k1", of: "alice")
        _ = try await storage.register("k2", of: "alice", on: "tablet")
        _ = try await storage.register("k3", of: "alice", on: nil)
        _ = try await storage.register("k4", of: "bob")
        let device = try await storage.only("alice")
        try expect(device.installation, is: Sample.installation, "what it calls itself")
        try await expect(storage.device(device.id), is: device, "the device by its id")
        try await expect(storage.lockDevice(of: "alice"), is: [], "the orders")
        let locked = try await storage.only("alice")
        try expect(locked.standing, is: .locked, "how it stands")
        try expect(locked.isOrderedLocked, is: true, "that an operator said so")
        try expect(locked.orderedReason, is: "why", "the reason")
        try expect(locked.ordered, is: 1010, "since when")
        try await expect(
          storage.isDeviceLocked(Sample.installation, of: "alice"), is: true, "what is asked of it")
        // What is bound to a device had its row, which somebody has removed.
        try await expect(storage.isDeviceLocked("nowhere", of: "alice"), is: true, "of one without a row")
        for (installation, user) in [(Sample.installation, "bob"), ("tablet", "alice"), (nil, "alice")] {
          try await expect(storage.isDeviceLocked(installation, of: user), is: false, "of another")
        }
        try await expect(.deviceLocked, "a key of it") { try await storage.authenticate("k1", of: "alice") }
        for (key, user) in [("k2", "alice"), ("k3", "alice"), ("k4", "bob")] {
          try await expect(storage.authenticate(key, of: user), is: .taken, "\(key), which is elsewhere")
        }
        try await expect(storage.unlockDevice(of: "alice"), is: [], "the orders of the unlock")
        try await expect(storage.authenticate("k1", of: "alice"), is: .taken, "the key afterwards")
        try await expect(storage.lockDevice("nothing"), is: .unknown, "a lock of nothing")
        try await expect(storage.unlockDevice("nothing"), is: .unknown, "an unlock of nothing")
      },
      Check("a device stands as its container does") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        let made = try await storage.only("alice")
        try expect(made.standing, is: .open, "at the beginning")
        try expect([made.name, made.platform], is: ["Läptop", "linux"], "what it is")
        try expect(made.created, is: 1700, "since when")
        try await storage.report(.stepUp, of: "c1")
        try await expect(storage.only("alice").standing, is: .stepUp, "after a report")
        try await storage.order(.lock, "c1")
        try await expect(storage.only("alice").standing, is: .locked, "after a lock")
        try await storage.order(.unlock, "c1")
        try await expect(storage.only("alice").standing, is: .stepUp, "after the unlock")
        _ = try await storage.revokeContainer("c1")
        try await expect(storage.only("alice").standing, is: .open, "without its container")
        // The same device, with a new container and a UAF key.
        try await storage.activate("c2")
        _ = try await storage.register("k1", of: "alice")
        let again = try await storage.only("alice")
        try expect(again.id, is: made.id, "its id")
        try expect(again.name, is: "Läptop", "its name")
      },
      Check("a device's own lock reaches its container, whose unlock does not end it") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.addTransaction(Sample.transaction("t1"), audit: event("transaction"))
        try await expect(storage.lockDevice(of: "alice"), is: ["l-c1"], "the orders")
        try await expect(storage.container("c1")?.standing, is: .locked, "the container")
        try await expect(storage.accountOrders(of: "c1").map(\.action), is: [.lock], "what its device hears")
        try await expect(storage.submit(5), is: .refused, "a code")
        try await expect(storage.decide("t1", Sample.decision()), is: .containerLocked, "an approval")
        try await expect(.deviceLocked, "an unlock of the container") {
          try await storage.order(.unlock, "c1")
        }
        try await expect(storage.unlockDevice(of: "alice"), is: ["l-c1"], "the orders of the unlock")
        try await expect(storage.container("c1")?.standing, is: .open, "the container afterwards")
        try await expect(storage.submit(5), is: .accepted, "a code afterwards")
        // An operator's lock of the container ends with the unlock of the device too; a wipe does not.
        try await storage.order(.lock, "c1")
        _ = try await storage.unlockDevice(of: "alice")
        try await expect(storage.container("c1")?.standing, is: .open, "the container without its lock")
        try await storage.order(.wipe, "c1")
        try await expect(
          storage.unlockDevice(storage.only("alice").id), is: .toBeWiped, "an unlock of what is to be deleted"
        )
        try await expect(storage.only("alice").standing, is: .locked, "how it stands")
      },
      Check("a lock ends registrations that are under way, and no other operation") { storage in
        try await storage.add(Sample.alice)
        _ = try await storage.register("k1", of: "alice")
        _ = try await storage.addTarget("t1", of: "alice")
        _ = try await storage.addTarget("t2", of: "alice", on: "tablet")
        for (id, operation) in [("reg", "Reg"), ("auth", "Auth"), ("dereg", "Dereg")] {
          try await storage.addUAFSession(Sample.session(id, operation, of: "alice"), audit: nil)
        }
        for target in ["t1", "t2"] {
          try await storage.addToken("reg-\(target)", of: "alice", for: target, "Reg")
        }
        _ = try await storage.lockDevice(of: "alice")
        for id in ["reg", "reg-t1"] {
          try await expect(storage.uafSession(id)?.state, is: .failed, "\(id)")
          try await expect(storage.uafSession(id)?.hasEndedAsForbidden, is: true, "how \(id) ended")
        }
        for id in ["auth", "dereg"] {
          try await expect(storage.uafSession(id)?.state, is: .requested, "\(id)")
        }
        try await expect(storage.uafSession("reg-t2")?.state, is: .tokenCreated, "one for another device")
      },
      Check("with a target ends what was sent to it, but for what removes keys") { storage in
        for isDevice in [false, true] {
          let user = "u\(isDevice)"
          try await storage.add(UserRecord(id: user, created: 100))
          _ = try await storage.register("k-\(user)", of: user)
          _ = try await storage.addTarget("t-\(user)", of: user)
          for operation in ["Reg", "Auth", "Dereg"] {
            try await storage.addToken("\(operation)-\(user)", of: user, for: "t-\(user)", operation)
          }
          if isDevice {
            _ = try await storage.removeUAFDevice(Sample.installation, of: user, audit: event("removed"))
          } else {
            _ = try await storage.removeUAFTarget("t-\(user)", audit: event("removed"))
          }
          for operation in ["Reg", "Auth"] {
            try await expect(storage.uafSession("\(operation)-\(user)")?.state, is: .failed, operation)
          }
          try await expect(storage.uafSession("Dereg-\(user)")?.state, is: .tokenCreated, "a removal")
          try await storage.addToken("late-\(user)", of: user, for: "t-\(user)", "Reg")
          try await expect(storage.redeem("late-\(user)"), is: false, "what was sent meanwhile")
        }
      },
      Check("with a container go the UAF keys and the targets on its device, and nothing else") { storage in
        for user in [Sample.alice, Sample.bob] { try await storage.add(user) }
        try await storage.activate("c1")
        for (key, user, device) in [
          ("k1", "alice", Sample.installation), ("k2", "alice", "tablet"), ("k3", "bob", Sample.installation),
        ] {
          try await expect(storage.register(key, of: user, on: device), is: .taken, "\(key)")
        }
        _ = try await storage.addTarget("t1", of: "alice")
        _ = try await storage.addTarget("t2", of: "alice", on: "tablet")
        for (id, operation) in [("reg", "Reg"), ("dereg", "Dereg")] {
          try await storage.addUAFSession(Sample.session(id, operation, of: "alice"), audit: nil)
        }
        for target in ["t1", "t2"] { try await storage.addToken("s-\(target)", of: "alice", for: target) }
        try await expect(storage.revokeContainer("c1"), is: true, "the revocation")
        try await expect(
          storage.uafCredentials(user: "alice").map(\.state), is: [.revoked, .active], "the keys")
        try await expect(storage.uafCredentials(user: "bob").map(\.state), is: [.active], "another user's")
        try await expect(storage.uafTargets(user: "alice").map(\.id), is: ["t2"], "the targets")
        for (id, state) in [
          ("reg", .failed), ("dereg", .requested), ("s-t1", .failed), ("s-t2", .tokenCreated),
        ] as [(String, UAFSessionRecord.State)] {
          try await expect(storage.uafSession(id)?.state, is: state, "\(id)")
        }
        try await expect(storage.authenticate("k1", of: "alice"), is: .keyUnknown, "a login by the key")
        try await expect(storage.authenticate("k2", of: "alice"), is: .taken, "one by another")
        let lost = try await log(of: storage).filter { $0.contains("lost") }
        try expect(lost.count, is: 2, "events of what went")
        _ = try await storage.revokeContainer("c1")
        try await expect(
          log(of: storage).count { $0.contains("lost") }, is: 2, "events after the second revocation")
        // The row stays whoever removes it, so that the key is not registered again; another one is.
        for selection in [UAFKeySelection(), UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))] {
          _ = try await storage.removeUAFCredentials(of: "alice", [selection]) { _, _ in event("removed") }
        }
        _ = try await storage.removeUAFDevice(
          Sample.installation, of: "alice", audit: event("removed"))
        try await expect(storage.uafCredentials(user: "alice").map(\.state), is: [.revoked], "what is left")
        try await expect(
          storage.releaseUAFCredential(
            aaid: "7357#0001", keyID: Array("k1".utf8), audit: event("released")), is: false, "a release")
        for user in ["alice", "bob"] {
          try await expect(storage.register("k1", of: user), is: .keyExists, "the key again, for \(user)")
        }
        for key in ["k5", "k6", "k7", "k8"] {
          try await expect(storage.register(key, of: "alice"), is: .taken, "a new one")
        }
      },
      Check("a renewal, and a container that another replaced, take nothing of UAF away") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        _ = try await storage.register("k1", of: "alice")
        var successor = Sample.container("c2", activation: "a-c1")
        (successor.renews, successor.renewals, successor.succession) = ("c1", 1, "signed")
        let outcome = try await storage.stageRenewal(
          of: "c1", by: NewContainer(successor, Sample.credential("c2")), limit: 3
        ) { _ in event("renewal") }
        try expect(outcome, is: .staged, "the renewal")
        try await expect(storage.confirm("c2"), is: .activated, "its confirmation")
        _ = try await storage.revokeContainer("c1")
        try await storage.activate("c3")
        _ = try await storage.revokeContainer("c2")
        // One that is not in use yet is no reason either.
        try await storage.add(Sample.activation("a4"))
        _ = try await storage.finish("a4", Sample.container("c4", activation: "a4"))
        _ = try await storage.revokeContainer("c4")
        try await expect(storage.authenticate("k1", of: "alice"), is: .taken, "the key")
        try await expect(storage.devices(user: "alice").count, is: 1, "devices")
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
        try await expect(storage.container("c2")?.standing, is: .locked, "how it stands")
        try await expect(storage.only("alice").standing, is: .locked, "how the device stands")
        try await storage.order(.unlock, "c2")
        try await expect(storage.authenticate("k1", of: "alice"), is: .taken, "the key after the unlock")
      },
      Check("a container that its user deletes leaves the UAF keys; one that is wiped does not") { storage in
        for (user, end) in [("deleted", "deleted"), ("reset", "reset"), ("wiped", "wiped")] {
          try await storage.add(UserRecord(id: user, created: 1000))
          try await storage.activate("c-\(user)", user: user)
          _ = try await storage.register("k-\(user)", of: user)
          try await expect(storage.end("c-\(user)", as: end), is: true, "the end")
          let state: UAFCredentialRecord.State = end == "wiped" ? .revoked : .active
          try await expect(storage.uafCredentials(user: user).map(\.state), is: [state], "the key: \(end)")
          try await expect(storage.only(user).standing, is: .open, "how the device stands: \(end)")
        }
        // What is ordered counts when the receipt comes, and the lock of the order before that.
        try await storage.add(UserRecord(id: "ordered", created: 1000))
        try await storage.activate("c", user: "ordered")
        _ = try await storage.register("k", of: "ordered")
        try await storage.order(.wipe, "c", id: "w")
        try await expect(storage.only("ordered").standing, is: .locked, "how the device stands")
        try await expect(storage.uafCredentials(user: "ordered").map(\.state), is: [.active], "the key")
        let isReceived = try await storage.receiveAccountOrder(
          "w", of: "c", receipt: "r", at: 1100, audit: event("receipt"), lost: Sample.lost)
        try expect(isReceived, is: true, "the receipt")
        try await expect(storage.uafCredentials(user: "ordered").map(\.state), is: [.revoked], "the key then")
        try await expect(storage.only("ordered").standing, is: .open, "how the device stands then")
        // A word about a container that was replaced long ago.
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.activate("c2")
        _ = try await storage.register("k1", of: "alice")
        try await expect(storage.end("c1", as: "wiped"), is: true, "a late word")
        try await expect(storage.uafCredentials(user: "alice").map(\.state), is: [.active], "the key of now")
      },
      Check("a device is revoked with all that is bound to it, and its lock stays") { storage in
        try await storage.add(Sample.alice)
        try await storage.activate("c1")
        try await storage.activate("tablet", device: 8)
        _ = try await storage.register("k1", of: "alice")
        _ = try await storage.addTarget("t1", of: "alice")
        try await storage.add(Sample.activation("a2"))
        _ = try await storage.finish("a2", Sample.container("c2", activation: "a2"))
        let device = try await storage.device(on: Sample.installation, of: "alice")
        let position = try await storage.transactionChanges(after: nil).last
        try await expect(
          storage.revokeDevice(device.id, audit: event("revoked"), lost: Sample.lost), is: true, "revoke")
        try await expect(
          storage.transactionChanges(after: position).users, is: ["alice"], "who waits is told")
        for (id, state) in [("c1", .revoked), ("c2", .revoked), ("tablet", .active)]
          as [(String, ContainerRecord.State)]
        {
          try await expect(storage.container(id)?.state, is: state, "container \(id)")
        }
        try await expect(storage.credential("c1"), is: nil, "what made codes")
        try await expect(storage.confirm("c2"), is: .gone, "a confirmation afterwards")
        try await expect(storage.uafCredentials(user: "alice").map(\.state), is: [.revoked], "the key")
        try await expect(storage.uafTargets(user: "alice"), is: [], "the targets")
        try await expect(storage.register("k1", of: "alice"), is: .keyExists, "the key again")
        try await expect(log(of: storage).count { $0.contains("lost") }, is: 4, "events of what went")
        try await expect(
          storage.revokeDevice("nothing", audit: event("revoked"), lost: Sample.lost), is: false, "of nothing"
        )
        // It may be enrolled again, unless it is locked.
        try await storage.activate("c3")
        _ = try await storage.lockDevice(device.id)
        _ = try await storage.revokeDevice(device.id, audit: event("revoked"), lost: Sample.lost)
        try await expect(.deviceLocked, "a new key") { try await storage.register("k2", of: "alice") }
      },
      Check("what is added on the word of an operation needs its keys, in the same step") { storage in
        try await storage.add(Sample.alice)
        _ = try await storage.register("k", of: "alice")
        _ = try await storage.authenticate("k", of: "alice", "s")
        try await storage.addUAFSession(Sample.session("before", "Reg", of: "alice"), by: "s", audit: nil)
        let device = try await storage.only("alice").id
        _ = try await storage.lockDevice(device)
        try await expect(storage.uafSession("before")?.hasEndedAsForbidden, is: true, "one before the lock")
        try await expect(.deviceLocked, "one after it") {
          try await storage.addUAFSession(Sample.session("locked", "Reg", of: "alice"), by: "s", audit: nil)
        }
        try await expect(.deviceLocked, "a target after it") {
          try await storage.addTarget("t", of: "alice", on: "other", by: "s")
        }
        _ = try await storage.unlockDevice(device)
        _ = try await storage.revokeDevice(device, audit: event("revoked"), lost: Sample.lost)
        for basis in ["s", "nothing"] {
          try await expect(.deviceLocked, "one after the revocation") {
            try await storage.addUAFSession(
              Sample.session("revoked", "Reg", of: "alice"), by: basis, audit: nil)
          }
        }
      },
      Check("a locked device stays locked, whatever end its container tells") { storage in
        for end in ["deleted", "reset", "wiped"] {
          try await storage.add(UserRecord(id: end, created: 1000))
          try await storage.activate("c-\(end)", user: end)
          try await storage.order(.lock, "c-\(end)")
          _ = try await storage.end("c-\(end)", as: end)
          try await expect(storage.only(end).standing, is: .locked, end)
        }
        try await storage.add(Sample.alice)
        try await storage.activate("c")
        try await storage.order(.lock, "c")
        try await storage.order(.wipe, "c")
        _ = try await storage.end("c", as: "wiped")
        try await expect(storage.only("alice").standing, is: .open, "one that was wiped by order")
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
            ? try await storage.register("k\(number)", of: "alice", limit: 100) == .taken
            : try await storage.addTarget("t\(number)", of: "alice")
        }
        try await expect(storage.devices(user: "alice").count, is: 1, "devices")
        try await expect(storage.uafCredentials(user: "alice").count, is: contestants / 2, "keys")
      },
      Check("50 locks, and logins at once: each login is before the lock, or refused") { storage in
        try await storage.add(Sample.alice)
        _ = try await storage.register("k", of: "alice")
        let device = try await storage.only("alice").id
        let isTaken = try await race { number in
          if number == contestants / 2 {
            _ = try await storage.lockDevice(device)
            return false
          }
          do {
            return try await storage.authenticate("k", of: "alice", "s\(number)") == .taken
          } catch StorageFailure.deviceLocked { return false }
        }
        let succeeded = try await (0..<contestants).asyncCount {
          try await storage.uafSession("s\($0)")?.state == .succeeded
        }
        try expect(isTaken.count { $0 }, is: succeeded, "logins that were taken")
        try await expect(.deviceLocked, "one after them") { try await storage.authenticate("k", of: "alice") }
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
              id: id, user: user, sealedSecret: [1], challenge: [2], created: 1000, expires: 1900),
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
        let expected: [AuthenticatorRecord] = [
          AuthenticatorRecord(id: "app", kind: .pushApp, name: "", state: .pending, created: 1000),
          AuthenticatorRecord(
            id: "7357#0001/\(other)", kind: .uaf, name: "7357#0001", state: .active, created: 1000),
          AuthenticatorRecord(
            id: "7357#0001/\(name)", kind: .uaf, device: device.id, name: "7357#0001", state: .suspended,
            reason: "the device is locked", created: 1000),
          AuthenticatorRecord(
            id: "c1", kind: .container, device: device.id, name: "Läptop", state: .suspended, reason: "why",
            created: 1500),
          AuthenticatorRecord(id: "c2", kind: .container, name: "Läptop", state: .pending, created: 1500),
          AuthenticatorRecord(id: "s1", kind: .otp, name: "s1", state: .pending, created: 1500),
        ]
        try expect(Set(holdings.authenticators), is: Set(expected), "the authenticators")
        try expect(holdings.authenticators.map(\.created), is: expected.map(\.created), "their order")
        try await expect(storage.device(device.id)?.user, is: "alice", "whose the device is")
        _ = try await storage.revokeDevice(device.id, audit: event("revoked"), lost: Sample.lost)
        let ended = try await storage.holdings(of: "alice", codeAttempts: 100).authenticators
          .filter { $0.device == device.id }
        try expect(ended.map(\.state), is: [.revoked, .revoked], "what was on the device")
      },
      Check("the newest entries of the audit log come first") { storage in
        for name in ["1", "2", "3"] { try await storage.append(event(name)) }
        let found = try await storage.lastAuditEntries(limit: 2)
        try expect(found.isEmpty, is: false, "whether there are none")
        let chains = Set(found.map(\.chain))
        if chains.count == 1 {
          try expect(found.map(\.text), is: [event("3").text, event("2").text], "the newest two")
        }
        for chain in chains {
          let numbers = found.filter { $0.chain == chain }.map(\.number)
          try expect(numbers, is: numbers.sorted(by: >), "the order of a chain")
        }
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

extension Range<Int> {
  fileprivate func asyncCount(_ isCounted: (Int) async throws -> Bool) async throws -> Int {
    var count = 0
    for number in self where try await isCounted(number) { count += 1 }
    return count
  }
}
