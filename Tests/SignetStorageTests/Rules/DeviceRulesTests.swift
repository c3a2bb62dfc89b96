import SignetServerTesting
import SignetStorage
import Testing

/// The compliance state of a device, and the orders of an operator.
@Suite struct DeviceRulesTests {
  // MARK: Compliance state

  @Test(
    "a device has the most severe state of its own lock and its authenticators",
    arguments: [
      ([], false, .open), ([.open, .stepUp], false, .stepUp), ([.stepUp, .locked, .open], false, .locked),
      ([], true, .locked), ([.open], true, .locked),
    ] as [([ComplianceState], Bool, ComplianceState)])
  func compliance(_ bound: [ComplianceState], _ isOrdered: Bool, _ compliance: ComplianceState) {
    let before = DeviceRecord.rule(orderedLock: isOrdered)
    let settlement = DeviceSettlement(before, before: before, bound.map { BoundCompliance($0) })
    #expect(settlement.device.compliance == compliance)
    #expect(settlement.isLocked == (compliance == .locked))
  }

  @Test(
    "receivers are notified of a changed state, and a new lock ends pending requests",
    arguments: ComplianceState.allCases, ComplianceState.allCases)
  func news(_ earlier: ComplianceState, _ later: ComplianceState) {
    let before = DeviceRecord.rule(earlier)
    let settlement = DeviceSettlement(before, before: before, [BoundCompliance(later)])
    let names: [ComplianceState: OutboxEvent.Kind] = [
      .open: .deviceUnlocked, .stepUp: .deviceRestricted, .locked: .deviceLocked,
    ]
    #expect(settlement.news == (earlier == later ? nil : names[later]))
    #expect(settlement.isChanged == (earlier != later))
    #expect(settlement.endsPendingOperations == (later == .locked && earlier != .locked))
  }

  @Test("a new name is stored without an event")
  func newName() {
    var device = DeviceRecord.rule()
    device.name = "tablet"
    let settlement = DeviceSettlement(device, before: .rule(), [])
    #expect((settlement.isChanged, settlement.news) == (true, nil))
  }

  @Test(
    "an altered row is rewritten, and its previous state is ignored",
    arguments: ComplianceState.allCases)
  func alteredRow(_ compliance: ComplianceState) {
    let before = DeviceRecord.rule(compliance, altered: true)
    let settlement = DeviceSettlement(before.locked(because: "", at: 5), before: before, [])
    #expect((settlement.device.isAltered, settlement.isChanged) == (false, true))
    #expect(settlement.news == .deviceLocked)
    #expect(settlement.endsPendingOperations)
  }

  @Test("a lock by an altered authenticator alone has its event, once")
  func alteredAuthenticator() {
    let altered = AuditEvent.containerAltered(user: "alice", container: "c")
    let bound = [BoundCompliance(.open), BoundCompliance(.locked, altered: altered)]
    #expect(DeviceSettlement(.rule(), before: .rule(), bound).alteration == altered)
    #expect(DeviceSettlement(.rule(.locked), before: .rule(.locked), bound).alteration == nil)
    // An operator's order is the reason while it holds; afterwards the altered row is.
    let ordered = DeviceRecord.rule(.locked, orderedLock: true)
    #expect(DeviceSettlement(ordered, before: .rule(), bound).alteration == nil)
    #expect(DeviceSettlement(.rule(.locked), before: ordered, bound).alteration == altered)
    #expect(DeviceSettlement(.rule(), before: .rule(), [BoundCompliance(.locked)]).alteration == nil)
  }

  // MARK: The gate

  @Test(
    "a locked device is refused, and one whose row was altered",
    arguments: [
      (.rule(), nil), (.rule(.stepUp), nil), (.rule(.locked), .deviceLocked),
      (.rule(altered: true), .altered(row: "d", of: "devices")),
      (.rule(.locked, altered: true), .altered(row: "d", of: "devices")),
    ] as [(DeviceRecord, StorageFailure?)])
  func gate(_ device: DeviceRecord, _ refusal: StorageFailure?) {
    #expect(device.refusal == refusal)
  }

  // MARK: Orders

  @Test("a lock has its reason and its time")
  func lock() {
    let device = DeviceRecord.rule().locked(because: "lost", at: 5)
    #expect((device.isOrderedLocked, device.orderedReason, device.ordered) == (true, "lost", 5))
  }

  @Test("an unlock removes the operator's lock, except on an altered row or with an open wipe")
  func unlock() {
    var unlocked = DeviceRecord.rule(.locked)
    unlocked.ordered = 5
    let locked = DeviceRecord.rule(.locked, orderedLock: true)
    let done: [DeviceCommandRecord] = [.rule(.lock), .rule(.wipe, done: true)]
    #expect(locked.unlocked(after: done, at: 5) == .made(unlocked))
    #expect(locked.unlocked(after: done + [.rule(.wipe)], at: 5) == .refused(.toBeWiped))
    #expect(DeviceRecord.rule(altered: true).unlocked(after: [.rule(.wipe)], at: 5) == .refused(.altered))
  }

  @Test("the lock of a container that ended stays on its device; one of the operator's keeps its reason")
  func keptLock() {
    #expect(DeviceRecord.rule().keeping(lock: nil, at: 5) == .rule())
    #expect(
      DeviceRecord.rule().keeping(lock: "stolen", at: 5)
        == DeviceRecord.rule().locked(because: "stolen", at: 5))
    let locked = DeviceRecord.rule(.locked, orderedLock: true)
    #expect(locked.keeping(lock: "stolen", at: 5) == locked)
    #expect(DeviceRecord.rule(altered: true).keeping(lock: "stolen", at: 5) == nil)
    #expect(DeviceRecord.rule(altered: true).keeping(lock: nil, at: 5) == nil)
  }

  @Test("a bound authenticator updates the device's description by its non-empty members")
  func description() {
    var new = DeviceRecord.rule()
    (new.name, new.platform) = ("tablet", "")
    let device = DeviceRecord.rule().described(by: new)
    #expect((device.name, device.platform) == ("tablet", "Linux"))
    (new.name, new.platform) = ("", "Android")
    let other = DeviceRecord.rule().described(by: new)
    #expect((other.name, other.platform) == ("phone", "Android"))
  }

  // MARK: Devices that are forgotten

  @Test(
    "devices are deleted when there are more than 64",
    arguments: [(63, false), (64, false), (65, true)] as [(Int64, Bool)])
  func crowd(_ count: Int64, _ isCrowded: Bool) {
    #expect(DeviceRetention.isCrowded(count) == isCrowded)
  }

  @Test("a device that an authenticator references is kept; names are compared byte by byte")
  func forgotten() {
    // "é" in two forms, which are equal as strings.
    let devices: [(id: ID<DeviceRecord>, installation: String)] = [
      ("d1", "01"), ("d2", "e\u{301}"), ("d3", "02"),
    ]
    #expect(DeviceRetention.forgotten(among: devices, boundTo: ["01", "\u{e9}"]) == ["d2", "d3"])
  }
}
