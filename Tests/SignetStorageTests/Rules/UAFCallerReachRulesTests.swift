import SignetServerTesting
import SignetStorage
import Testing

/// The rights of UAF callers, by their token and their device.
@Suite struct UAFCallerReachRulesTests {
  private static func key(
    _ number: UInt8 = 1, _ state: UAFCredentialRecord.State = .active, of user: UserID = "alice",
    on device: String? = nil
  ) -> UAFCredentialRecord {
    var key = UAFCredentialRecord.rule(number, state, of: user)
    key.device = device
    return key
  }

  // MARK: What a caller is known by

  @Test("a successful operation authenticates its own user only")
  func authenticated() {
    for state in [UAFOperationRecord.State.tokenCreated, .requested, .succeeded, .failed] {
      let operation = UAFOperationRecord.rule("Auth", state)
      #expect(operation.hasAuthenticated("alice") == (state == .succeeded), "\(state)")
      #expect(!operation.hasAuthenticated("bob"), "\(state)")
    }
    var nobodys = UAFOperationRecord.rule("Auth", .succeeded)
    nobodys.user = nil
    #expect(!nobodys.hasAuthenticated("alice"))
    // KELVIN SIGN equals K as a string.
    nobodys.user = "K"
    #expect(!nobodys.hasAuthenticated("\u{212A}"))
  }

  @Test(
    "an operation's keys are valid if there are any and each is active and the user's",
    arguments: [
      ([], nil), ([nil], nil), ([key()], 1), ([key(1), key(2)], 2), ([key(1), nil], nil),
      ([key(1), key(2, of: "bob")], nil), ([key(1, .quarantined)], nil), ([key(1), key(2, .revoked)], nil),
      ([key(1, .altered)], nil),
    ] as [([UAFCredentialRecord?], Int?)])
  func keysInUse(_ found: [UAFCredentialRecord?], count: Int?) {
    let keys = UAFCredentialRecord.inUse(found, by: "alice")
    #expect(keys == count.map { _ in found.compactMap(\.self) })
    #expect(keys?.count == count)
  }

  @Test("a caller acts from its keys' devices while the user is active and the keys suffice")
  func identity() {
    let session = UAFOperationRecord.rule("Auth", .succeeded)
    func devices(
      _ found: [UAFCredentialRecord?], of state: UserRecord.State? = .active, suffice: Bool = true
    ) -> [String]? {
      let identity = UAFCallerIdentity(by: session, of: "alice", state, found) { judged, keys in
        #expect(judged == session && keys == found.compactMap(\.self))
        return suffice
      }
      if let identity { #expect(identity.user == "alice") }
      return identity?.devices
    }
    #expect(devices([Self.key(on: "d1")]) == ["d1"])
    #expect(devices([Self.key(1, on: "d1"), Self.key(2), Self.key(3, on: "d2")]) == ["d1", "d2"])
    #expect(devices([Self.key()]) == [])
    #expect(devices([Self.key(on: "d1")], suffice: false) == nil)
    #expect(devices([Self.key(1, .quarantined, on: "d1")]) == nil)
    #expect(devices([]) == nil)
    for state in [UserRecord.State.suspended, .deleted, .altered, nil] {
      #expect(devices([Self.key(on: "d1")], of: state) == nil, "\(String(describing: state))")
    }
  }

  @Test("a target acts from its device")
  func targets() {
    func identity(on device: String?) -> UAFCallerIdentity {
      UAFCallerIdentity(
        of: UAFTargetRecord(
          id: "t", user: "alice", device: device, name: "phone", dispatcher: nil, sealedTarget: nil,
          signatureKey: [], encryptionKey: nil, created: 1))
    }
    #expect(identity(on: "d1").devices == ["d1"] && identity(on: "d1").user == "alice")
    #expect(identity(on: nil).devices == [])
  }

  @Test("a key is usable on its device unless that is locked, altered or missing")
  func usable() {
    for (device, isUsable) in [
      (nil, false), (.rule(), true), (.rule(.stepUp), true), (.rule(.locked), false),
      (.rule(altered: true), false),
    ] as [(DeviceRecord?, Bool)] {
      #expect(Self.key(on: "01").isUsable(on: device) == isUsable, "\(String(describing: device))")
    }
    #expect(Self.key().isUsable(on: nil))
  }

  // MARK: What it may do

  @Test(
    "an unknown caller or one on a locked device adds nothing",
    arguments: [(nil, .unauthorized), ([], nil), (["d1"], .deviceLocked), (["d1", "d2"], .deviceLocked)]
      as [(Set<String>?, StorageFailure?)])
  func additions(_ locked: Set<String>?, _ refusal: StorageFailure?) {
    #expect(UAFCallerReach(lockedDevices: locked).refusalToAdd == refusal)
  }

  /// The caller's locked devices, `nil` for an unknown caller; the device of a target; and the refusal to remove it.
  struct Removal: Sendable {
    let locked: Set<String>?
    let device: String?
    let refusal: StorageFailure?
  }

  @Test(
    "a caller on a locked device can remove only that device's target",
    arguments: [
      Removal(locked: nil, device: "d1", refusal: .unauthorized),
      Removal(locked: nil, device: nil, refusal: .unauthorized),
      Removal(locked: [], device: "d1", refusal: nil), Removal(locked: [], device: nil, refusal: nil),
      Removal(locked: ["d1"], device: "d1", refusal: nil),
      Removal(locked: ["d1"], device: "d2", refusal: .deviceLocked),
      Removal(locked: ["d1"], device: nil, refusal: .deviceLocked),
      Removal(locked: ["d1", "d2"], device: "d2", refusal: nil),
    ])
  func targetRemovals(_ removal: Removal) {
    #expect(
      UAFCallerReach(lockedDevices: removal.locked).refusalToRemove(targetOn: removal.device)
        == removal.refusal)
  }

  // The selection "-" names a model and no key, "" a missing key, and "?" a key without a device.
  @Test(
    "a caller on a locked device can remove only its own keys by name, and missing ones",
    arguments: [
      ([], true), (["d1"], true), (["d1", "d1"], true), (["d2"], false), (["d1", "d2"], false),
      ([""], true), (["", "d1"], true), (["?"], false), (["-"], false), (["d1", "-"], false),
    ] as [([String], Bool)])
  func keyRemovals(_ selected: [String], isConfined: Bool) {
    let keys = selected.map { device in
      let found = ["", "-"].contains(device) ? nil : Self.key(on: device == "?" ? nil : device)
      return (selection: UAFKeySelection(aaid: "7357#0001", keyID: device == "-" ? nil : [1]), key: found)
    }
    let confined = UAFCallerReach(lockedDevices: ["d1"])
    #expect(confined.refusalToRemove(keys) == (isConfined ? nil : .deviceLocked))
    #expect(UAFCallerReach(lockedDevices: []).refusalToRemove(keys) == nil)
    #expect(UAFCallerReach(lockedDevices: nil).refusalToRemove(keys) == .unauthorized)
  }

  @Test("selecting all keys is not confined to a device")
  func allKeys() {
    let confined = UAFCallerReach(lockedDevices: ["d1"])
    #expect(confined.refusalToRemove([(selection: UAFKeySelection(), key: nil)]) == .deviceLocked)
    let keyID = UAFKeySelection(aaid: nil, keyID: [1])
    #expect(confined.refusalToRemove([(selection: keyID, key: nil)]) == .deviceLocked)
  }
}
