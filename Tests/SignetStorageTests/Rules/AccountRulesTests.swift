import SignetServerTesting
import SignetStorage
import Testing

/// The effect of orders and reports on the server's compliance state of a container.
@Suite struct AccountRulesTests {
  private static let container = ContainerRecord.rule()
  private static let now: Int64 = 1_800_000_000

  // MARK: Orders

  @Test(
    "an order is accepted for an active container only",
    arguments: ContainerRecord.State.allCases, DeviceCommandRecord.Action.allCases)
  func orderedContainer(_ state: ContainerRecord.State, _ action: DeviceCommandRecord.Action) {
    let order = DeviceCommandRecord.rule(action)
    #expect(order.outcome(to: .rule("c", state), after: []) == (state == .active ? .added : .notInUse))
    #expect(order.outcome(to: nil, after: []) == .notInUse)
  }

  @Test(
    "nothing unlocks a container with an open wipe; it can still be locked and wiped",
    arguments: DeviceCommandRecord.Action.allCases)
  func openWipe(_ action: DeviceCommandRecord.Action) {
    let orders: [DeviceCommandRecord] = [.rule(.lock), .rule(.wipe)]
    let outcome = DeviceCommandRecord.rule(action).outcome(to: Self.container, after: orders)
    #expect(outcome == (action == .unlock ? .toBeWiped : .added))
  }

  @Test("a completed or altered wipe does not prevent an unlock")
  func noOpenWipe() {
    let orders: [DeviceCommandRecord] = [.rule(.wipe, done: true), .rule(.wipe, altered: true), .rule(.lock)]
    let unlock = DeviceCommandRecord.rule(.unlock)
    #expect(unlock.outcome(to: Self.container, after: orders) == .added)
  }

  @Test(
    "an unlock is refused while the device itself is locked, or its row is altered",
    arguments: [
      (DeviceRecord.rule(.locked), nil), (.rule(.locked, orderedLock: true), .deviceLocked),
      (.rule(altered: true), .altered(row: "d", of: "devices")),
    ] as [(DeviceRecord, StorageFailure?)])
  func lockedDevice(_ device: DeviceRecord, _ refusal: StorageFailure?) {
    #expect(device.refusalToUnlock == refusal)
  }

  @Test("a device unlock affects operator-locked containers, a device lock affects all")
  func orderAboutDevice() {
    for isLocked in [false, true] {
      let state = AccountStateRecord.rule(verdict: .locked, orderedLock: isLocked)
      #expect(state.awaits(.unlock) == isLocked)
      #expect(state.awaits(.lock))
      #expect(state.awaits(.wipe))
    }
  }

  @Test("a lock and a wipe lock at once; an unlock ends an operator's lock, and no report's")
  func effectOfOrders() {
    for action in [DeviceCommandRecord.Action.lock, .wipe] {
      let state = AccountStateRecord.rule().ordered(.rule(action))
      #expect((state.compliance, state.reason) == (.locked, "ordered"), "\(action)")
    }
    let unlocked = AccountStateRecord.rule(verdict: .stepUp, orderedLock: true).ordered(.rule(.unlock))
    #expect((unlocked.compliance, unlocked.reason, unlocked.orderedReason) == (.stepUp, "reported", ""))
  }

  @Test("an order determines the new state, also of an altered row")
  func orderToAltered() {
    #expect(AccountStateRecord.altered.compliance == .locked)
    for revision in [.min, 0, .max] as [Int64] {
      var altered = AccountStateRecord.altered
      altered.revision = revision
      var unlock = DeviceCommandRecord.rule(.unlock)
      unlock.created = Self.now
      let state = altered.ordered(unlock)
      #expect(!state.isAltered)
      #expect(state.compliance == .open)
      #expect(AccountStateChange(state, isChanged: true, at: Self.now).state.revision == Self.now + 1)
    }
    let order = AccountStateRecord.rule().ordered(.rule(.unlock))
    #expect(order.revision == 7, "one that was not altered goes on counting")
  }

  @Test("the first receipt of an order counts, none of an altered order")
  func receipts() throws {
    let done = try #require(DeviceCommandRecord.rule(.wipe).acknowledged(by: "first", at: 5))
    #expect((done.receipt, done.received) == ("first", 5))
    #expect(done.acknowledged(by: "second", at: 6) == nil)
    #expect(DeviceCommandRecord.rule(.lock, altered: true).acknowledged(by: "x", at: 5) == nil)
  }

  // MARK: Changes

  @Test("a change raises the revision and requests a report; otherwise both stay")
  func revisions() {
    let change = AccountStateChange(.rule(orderedLock: true), isChanged: true, at: Self.now)
    #expect(change.state.revision == 8)
    let container = change.container(Self.container)
    #expect((container.compliance, container.reportRequested) == (.locked, 8))
    let none = AccountStateChange(.rule(), isChanged: false, at: Self.now)
    #expect((none.isChanged, none.state.revision) == (false, 7))
    #expect(none.alteration(of: Self.container) == nil)
  }

  @Test("an altered state always counts as a change, with its event")
  func alteredState() {
    let change = AccountStateChange(.altered, isChanged: false, at: Self.now)
    #expect(change.isChanged)
    #expect(change.alteration(of: Self.container) == .accountAltered(user: "alice", container: "c"))
  }

  @Test(
    "an altered row's revision is ignored: the next one is derived from the time",
    arguments: [.min, -1, 0, 7, .max - 1, .max] as [Int64])
  func revisionOfAltered(_ before: Int64) throws {
    var state = AccountStateRecord.altered
    state.revision = before
    let change = AccountStateChange(state, isChanged: false, at: Self.now)
    #expect(change.state.revision == Self.now + 1)
    #expect(change.container(Self.container).reportRequested == Self.now + 1)
    #expect(AccountStateChange(state, isChanged: true, at: Self.now).state.revision == Self.now + 1)
    #expect(try #require(state.carried(at: Self.now)).state.revision == Self.now + 1)
  }

  @Test(
    "codes are usable only if the container is fully unlocked",
    arguments: [
      (ComplianceState.open, CredentialRecord.State.active), (.stepUp, .disabled), (.locked, .disabled),
    ])
  func codes(_ compliance: ComplianceState, _ state: CredentialRecord.State) {
    let change = AccountStateChange(.rule(verdict: compliance), isChanged: true, at: Self.now)
    for before in [CredentialRecord.State.active, .disabled] {
      #expect(change.credential(.rule(before))?.state == state, "\(before)")
    }
    // Neither before its first use, nor with an altered row, nor after its removal.
    #expect(change.credential(.rule(.pending)) == nil)
    #expect(change.credential(.rule(.altered)) == nil)
    #expect(change.credential(nil) == nil)
  }

  @Test("a successor inherits locks, policies and revision, but no challenge")
  func carried() throws {
    #expect(AccountStateRecord().carried(at: Self.now) == nil)
    let locked = try #require(AccountStateRecord.rule(orderedLock: true, revision: 0).carried(at: Self.now))
    #expect(locked.state.compliance == .locked)
    #expect((locked.isChanged, locked.state.revision) == (true, 1))
    #expect((locked.state.challenge, locked.state.challengeExpires) == (nil, 0))
    let earlier = try #require(AccountStateRecord.rule(revision: 1).carried(at: Self.now))
    #expect((earlier.isChanged, earlier.state.revision) == (true, 2))
    // A challenge alone is no change that the device must receive.
    let challenged = try #require(AccountStateRecord.rule(revision: 0).carried(at: Self.now))
    #expect((challenged.isChanged, challenged.state) == (false, AccountStateRecord()))
    let altered = try #require(AccountStateRecord.altered.carried(at: Self.now))
    #expect(altered.alteration(of: Self.container) != nil)
  }

  // MARK: Reports

  private static func report(
    _ verdict: ComplianceState = .open, at time: Int64 = 99, challenge: [UInt8] = [9], seen: Int64 = 7,
    order: DeviceCommandRecord? = nil
  ) -> AccountReportAttempt {
    AccountReportAttempt(
      container: "c", challenge: challenge, time: time, report: "jws", seen: seen, verdict: verdict,
      reason: verdict == .open ? "" : "reported", order: order)
  }

  @Test(
    "a report is accepted until the last second of its challenge",
    arguments: [(98, true), (99, true), (100, false), (101, false)] as [(Int64, Bool)])
  func challengeEnds(_ time: Int64, _ isTaken: Bool) {
    let taken = AcceptedReport(Self.report(at: time), of: Self.container, at: .rule(), [])
    #expect((taken != nil) == isTaken)
    #expect(AcceptedReport(Self.report(at: time, challenge: [8]), of: Self.container, at: .rule(), []) == nil)
  }

  @Test("a report of an inactive container or with an altered state is refused")
  func refusedReport() {
    #expect(AcceptedReport(Self.report(), of: nil, at: .rule(), []) == nil)
    for state in ContainerRecord.State.allCases where state != .active {
      #expect(AcceptedReport(Self.report(), of: .rule("c", state), at: .rule(), []) == nil, "\(state)")
    }
    #expect(AcceptedReport(Self.report(challenge: []), of: Self.container, at: .altered, []) == nil)
  }

  @Test("a report consumes its challenge, and its result is stored")
  func takenReport() throws {
    let taken = try #require(AcceptedReport(Self.report(.locked), of: Self.container, at: .rule(), []))
    let state = taken.change.state
    #expect((state.challenge, state.challengeExpires) == (nil, 0))
    #expect((state.report, state.reported) == ("jws", 99))
    #expect((state.compliance, state.reason, state.revision) == (.locked, "reported", 8))
    #expect(taken.entry == .always)
    #expect(!taken.isSettled)
  }

  @Test("a report with the same result is no change and no event")
  func sameReport() throws {
    let taken = try #require(
      AcceptedReport(Self.report(.stepUp), of: Self.container, at: .rule(verdict: .stepUp), []))
    #expect(!taken.change.isChanged)
    #expect(taken.entry == .limited(.container("c")))
  }

  @Test("under an operator's lock a report is recorded, and changes nothing for the device")
  func reportOfLocked() throws {
    let taken = try #require(
      AcceptedReport(Self.report(.stepUp), of: Self.container, at: .rule(orderedLock: true), []))
    #expect(taken.change.state.compliance == .locked)
    #expect(!taken.change.isChanged)
    #expect(taken.entry == .always)
  }

  @Test("another reason for the same result is a change and no event")
  func otherReason() throws {
    var report = Self.report(.stepUp)
    report.reason = "another"
    let taken = try #require(AcceptedReport(report, of: Self.container, at: .rule(verdict: .stepUp), []))
    #expect(taken.change.isChanged)
    #expect(taken.entry == .limited(.container("c")))
  }

  @Test("a report's order is issued, unless the container already has an open wipe")
  func reportWithOrder() throws {
    let report = Self.report(order: .rule(.wipe))
    let taken = try #require(AcceptedReport(report, of: Self.container, at: .rule(), []))
    #expect(taken.order == .rule(.wipe))
    #expect((taken.change.state.compliance, taken.change.isChanged) == (.locked, true))
    #expect(taken.entry == .always)
    let late = try #require(
      AcceptedReport(report, of: Self.container, at: .rule(orderedLock: true), [.rule(.wipe)]))
    #expect((late.order, late.change.isChanged) == (nil, false))
  }

  @Test(
    "a device that knows the current revision and has no open order needs no further report",
    arguments: [(6, false), (7, true), (8, true)] as [(Int64, Bool)])
  func settledReport(_ seen: Int64, _ isSettled: Bool) throws {
    let report = Self.report(seen: seen)
    let taken = try #require(
      AcceptedReport(report, of: Self.container, at: .rule(), [.rule(.lock, done: true)]))
    #expect(taken.isSettled == isSettled)
    let open = try #require(AcceptedReport(report, of: Self.container, at: .rule(), [.rule(.lock)]))
    #expect(!open.isSettled)
  }
}
