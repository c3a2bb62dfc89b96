import SignetCrypto
import SignetStorage

extension StorageContract {
  static let devices: [Check] = [
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
