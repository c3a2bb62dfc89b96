import SignetCrypto
import SignetStorage

extension StorageContract {
  static let deviceLosses: [Check] = [
    Check("with a target ends what was sent to it, but for what removes keys") { storage in
      for isDevice in [false, true] {
        let user: UserID = "u\(isDevice)"
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
          try await expect(storage.uafOperation("\(operation)-\(user)")?.state, is: .failed, operation)
        }
        try await expect(storage.uafOperation("Dereg-\(user)")?.state, is: .tokenCreated, "a removal")
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
        try await expect(storage.register(key, of: "\(user)", on: device), is: .accepted, "\(key)")
      }
      _ = try await storage.addTarget("t1", of: "alice")
      _ = try await storage.addTarget("t2", of: "alice", on: "tablet")
      for (id, operation) in [("reg", "Reg"), ("dereg", "Dereg")] {
        try await storage.addUAFOperation(Sample.session("\(id)", operation, of: "alice"), audit: nil)
      }
      for target in ["t1", "t2"] as [ID<UAFTargetRecord>] {
        try await storage.addToken("s-\(target)", of: "alice", for: target)
      }
      try await expect(storage.revokeContainer("c1"), is: true, "the revocation")
      try await expect(
        storage.uafCredentials(user: "alice").map(\.state), is: [.revoked, .active], "the keys")
      try await expect(storage.uafCredentials(user: "bob").map(\.state), is: [.active], "another user's")
      try await expect(storage.uafTargets(user: "alice").map(\.id), is: ["t2"], "the targets")
      for (id, state) in [
        ("reg", .failed), ("dereg", .requested), ("s-t1", .failed), ("s-t2", .tokenCreated),
      ] as [(String, UAFOperationRecord.State)] {
        try await expect(storage.uafOperation("\(id)")?.state, is: state, "\(id)")
      }
      try await expect(storage.authenticate("k1", of: "alice"), is: .keyUnknown, "a login by the key")
      try await expect(storage.authenticate("k2", of: "alice"), is: .accepted, "one by another")
      let lost = try await log(of: storage).filter { $0.contains("lost") }
      try expect(lost.count, is: 2, "events of what went")
      _ = try await storage.revokeContainer("c1")
      try await expect(
        log(of: storage).count { $0.contains("lost") }, is: 2, "events after the second revocation")
      // The row stays after any removal, so that the key cannot be registered again; another key can.
      for selection in [UAFKeySelection(), UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))] {
        _ = try await storage.removeUAFCredentials(of: "alice", [selection]) { _, _ in event("removed") }
      }
      _ = try await storage.removeUAFDevice(
        Sample.installation, of: "alice", audit: event("removed"))
      try await expect(storage.uafCredentials(user: "alice").map(\.state), is: [.revoked], "what is left")
      try await expect(
        storage.releaseUAFCredential(
          aaid: "7357#0001", keyID: Array("k1".utf8), audit: event("released")), is: false, "a release")
      for user in ["alice", "bob"] as [UserID] {
        try await expect(storage.register("k1", of: user), is: .keyExists, "the key again, for \(user)")
      }
      for key in ["k5", "k6", "k7", "k8"] {
        try await expect(storage.register(key, of: "alice"), is: .accepted, "a new one")
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
      // A container that is not in use yet does not count either.
      try await storage.add(Sample.activation("a4"))
      _ = try await storage.finish("a4", Sample.container("c4", activation: "a4"))
      _ = try await storage.revokeContainer("c4")
      try await expect(storage.authenticate("k1", of: "alice"), is: .accepted, "the key")
      try await expect(storage.devices(user: "alice").count, is: 1, "devices")
    },
    Check("a container that its user deletes leaves the UAF keys; one that is wiped does not") { storage in
      for (user, end) in [("deleted", "deleted"), ("reset", "reset"), ("wiped", "wiped")] {
        try await storage.add(UserRecord(id: "\(user)", created: 1000))
        try await storage.activate("c-\(user)", user: "\(user)")
        _ = try await storage.register("k-\(user)", of: "\(user)")
        try await expect(storage.end("c-\(user)", as: end), is: true, "the end")
        let state: UAFCredentialRecord.State = end == "wiped" ? .revoked : .active
        try await expect(storage.uafCredentials(user: "\(user)").map(\.state), is: [state], "the key: \(end)")
        try await expect(storage.only("\(user)").compliance, is: .open, "how the device stands: \(end)")
      }
      // A command takes effect with its acknowledgement, but its lock at once.
      try await storage.add(UserRecord(id: "ordered", created: 1000))
      try await storage.activate("c", user: "ordered")
      _ = try await storage.register("k", of: "ordered")
      try await storage.order(.wipe, "c", id: "w")
      try await expect(storage.only("ordered").compliance, is: .locked, "how the device stands")
      try await expect(storage.uafCredentials(user: "ordered").map(\.state), is: [.active], "the key")
      let isReceived = try await storage.receiveDeviceCommand(
        "w", of: "c", receipt: "r", at: 1100, audit: event("receipt"), lost: Sample.lost)
      try expect(isReceived, is: true, "the acknowledgement")
      try await expect(storage.uafCredentials(user: "ordered").map(\.state), is: [.revoked], "the key then")
      try await expect(storage.only("ordered").compliance, is: .open, "how the device stands then")
      // A late message about a container that was replaced before.
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
        try await expect(storage.container("\(id)")?.state, is: state, "container \(id)")
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
      // It can be enrolled again, unless it is locked.
      try await storage.activate("c3")
      _ = try await storage.lockDevice(device.id)
      _ = try await storage.revokeDevice(device.id, audit: event("revoked"), lost: Sample.lost)
      try await expect(.deviceLocked, "a new key") { try await storage.register("k2", of: "alice") }
    },
    Check("what is added on the word of an operation needs its keys, in the same step") { storage in
      try await storage.add(Sample.alice)
      _ = try await storage.register("k", of: "alice")
      _ = try await storage.authenticate("k", of: "alice", "s")
      let basis = Storage.basis("s")
      try await storage.addUAFOperation(Sample.session("before", "Reg", of: "alice"), by: basis, audit: nil)
      let insufficient = Storage.basis("s", suffices: false)
      try await expect(.unauthorized, "one of keys that do not suffice") {
        try await storage.addUAFOperation(
          Sample.session("weak", "Reg", of: "alice"), by: insufficient, audit: nil)
      }
      try await expect(.unauthorized, "a target by such keys") {
        try await storage.addTarget("t", of: "alice", by: insufficient)
      }
      let device = try await storage.only("alice").id
      _ = try await storage.lockDevice("\(device)")
      try await expect(storage.uafOperation("before")?.hasEndedAsForbidden, is: true, "one before the lock")
      try await expect(.deviceLocked, "one after it") {
        try await storage.addUAFOperation(Sample.session("locked", "Reg", of: "alice"), by: basis, audit: nil)
      }
      try await expect(.deviceLocked, "a target after it") {
        try await storage.addTarget("t", of: "alice", on: "other", by: basis)
      }
      _ = try await storage.unlockDevice(device)
      _ = try await storage.revokeDevice(device, audit: event("revoked"), lost: Sample.lost)
      for operation in ["s", "nothing"] as [ID<UAFOperationRecord>] {
        try await expect(.unauthorized, "one after the revocation") {
          try await storage.addUAFOperation(
            Sample.session("revoked", "Reg", of: "alice"), by: Storage.basis(operation), audit: nil)
        }
      }
    },
    Check("what is taken away from a locked device is on it, in the same step") { storage in
      try await storage.add(Sample.alice)
      for (key, device) in [("k1", Sample.installation), ("k2", "other"), ("k3", nil)] {
        _ = try await storage.register(key, of: "alice", on: device)
      }
      for (target, device) in [("t1", Sample.installation), ("t2", "other"), ("t3", nil)] {
        _ = try await storage.addTarget("\(target)", of: "alice", on: device)
      }
      _ = try await storage.authenticate("k1", of: "alice", "s")
      let device = try await storage.only("alice").id
      _ = try await storage.lockDevice("\(device)")
      let bases = [Storage.basis("s"), .target("t1")]
      for (index, basis) in bases.enumerated() {
        try await expect(storage.lockedDevices(of: basis), is: [Sample.installation], "where it acts from")
        for (number, key) in [nil, "k2", "k3"].enumerated() {
          let selection = UAFKeySelection(aaid: "7357#0001", keyID: key.map { Array($0.utf8) })
          try await expect(.deviceLocked, "a key: \(key ?? "all")") {
            try await storage.deregister("d\(index)\(number)", selection, by: basis)
          }
        }
        for target in ["t2", "t3"] as [ID<UAFTargetRecord>] {
          try await expect(.deviceLocked, "a target: \(target)") {
            try await storage.removeUAFTarget(target, by: basis, audit: event("removed"))
          }
        }
      }
      for (basis, subject) in [
        (Storage.basis("s", suffices: false), "weak keys"), (UAFBasis.target("t9"), "no target"),
      ] {
        try await expect(.unauthorized, "a target by \(subject)") {
          try await storage.removeUAFTarget("t1", by: basis, audit: event("removed"))
        }
      }
      try await expect(storage.uafCredentials(user: "alice").count, is: 3, "keys that stay")
      try await expect(storage.uafTargets(user: "alice").count, is: 3, "targets that stay")
      let selection = UAFKeySelection(aaid: "7357#0001", keyID: Array("k1".utf8))
      try await expect(storage.deregister("own", selection, by: .target("t1")), is: .accepted, "a key there")
      try await expect(.unauthorized, "anything by a key that is gone") {
        try await storage.removeUAFTarget("t2", by: Storage.basis("s"), audit: event("removed"))
      }
      try await expect(
        storage.removeUAFTarget("t1", by: .target("t1"), audit: event("removed")), is: true, "a target there")
      let names = try await storage.uafTargets(user: "alice").map(\.id)
      try expect(names, is: ["t2", "t3"], "the targets")
    },
  ]
}
