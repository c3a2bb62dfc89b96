import Signet
import SignetCrypto
import SignetIntegrity
import SignetInterchange
import SignetOATH
import SignetPolicy
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetUAFClient
import Synchronization
import Testing

/// A device with a guard of the app, and its reaction at each unlock to tampering.
@Suite(.timeLimit(.minutes(10))) struct TamperedDeviceTests {
  private static let password = "Signal 42 tower"

  /// A guard that finds tampering on demand.
  private final class Switch: Guard {
    let name = "switch"
    private let state = Mutex((isOn: false, looks: 0))
    var looks: Int { state.withLock { $0.looks } }
    func set(_ isOn: Bool) { state.withLock { $0.isOn = isOn } }

    func examine() -> [Evidence] {
      let isOn = state.withLock { state in
        state.looks += 1
        return state.isOn
      }
      return isOn ? [Evidence(.tracer, "process 7 (gdb) traces thread 8 of this process")] : []
    }
  }

  private final class Recorder: IntegrityResponder {
    private let calls = Mutex<[String]>([])
    var all: [String] { calls.withLock { $0 } }
    func lock(because report: IntegrityReport) async { calls.withLock { $0.append("lock") } }
    func wipeSession(because report: IntegrityReport) async { calls.withLock { $0.append("wipe") } }
  }

  private struct Bench {
    let server: InvitingServer
    let fixture: DeviceFixture
    let container: Container
    let device: Device
    let attack = Switch()
    let recorder = Recorder()

    init(_ reaction: Reaction) async throws {
      server = try await InvitingServer(
        .password(
          PasswordPolicy(minimumLength: 4, maximumLength: 40, cache: PasswordCache(isEnabled: true)),
          .lock(limit: 3)))
      fixture = try DeviceFixture(server.transport)
      container = try await fixture.activate(server.invite(), password: TamperedDeviceTests.password)
      let gate = IntegrityGate(
        try Integrity(guards: [attack], settings: IntegritySettings(reaction: reaction)), responder: recorder)
      device = Device(vault: try fixture.openVault(), integrity: gate) {
        [transport = server.transport] _ throws(TransportFailure) in transport
      }
    }

    var authentication: Authentication { .password(secret(TamperedDeviceTests.password)) }

    func ask() async throws -> TransactionRequest {
      let asked = try await TransactionService(server.server.context).create(
        "Pay 12.50 to Bob", user: UserID("alice"), lifetime: nil, by: .local)
      return try #require(
        try await device.pendingTransactions(for: container).first { $0.id == asked.id })
    }
  }

  private func expectRefusal(
    _ what: Comment, _ body: () async throws(SignetError) -> Void
  ) async {
    do throws(SignetError) {
      try await body()
      Issue.record("not refused: \(what)")
    } catch {
      guard case .integrity(.tampered(let report)) = error else {
        Issue.record("\(what): \(error)")
        return
      }
      #expect(report.evidence.map(\.finding) == [.tracer])
      #expect(error.number == 600)
      #expect(
        error.description.hasPrefix(
          "this program is being tampered with: process 7 (gdb) traces thread 8 of this process; remove the"))
    }
  }

  @Test(
    "an attack between two unlocks triggers the configured reaction at the second",
    arguments: [Reaction.report, .lock, .refuse, .wipeSession])
  func betweenUnlocks(_ reaction: Reaction) async throws {
    let bench = try await Bench(reaction)
    let (device, container) = (bench.device, bench.container)
    let session = Session(for: container, on: device)
    let other = Session(for: container, on: device, group: try #require(AppGroup("other")))
    try await session.unlock(by: bench.authentication)
    try await other.unlock(by: bench.authentication)
    let key = try await other.newTextKey(label: "notes")
    try await device.verify(bench.authentication, for: container)
    #expect(device.hasCachedPassword(for: container))
    let looks = bench.attack.looks
    #expect(looks == 3)

    bench.attack.set(true)
    let isWiped = [.lock, .wipeSession].contains(reaction)
    if reaction == .report {
      try await session.unlock(by: bench.authentication)
    } else {
      await expectRefusal("\(reaction)") { () throws(SignetError) in
        try await session.unlock(by: bench.authentication)
      }
    }
    #expect(bench.attack.looks == looks + 1)
    for each in [session, other] { #expect(each.state() == (isWiped ? .locked(.tampered) : .unlocked)) }
    #expect(device.hasCachedPassword(for: container) == !isWiped)
    #expect(bench.recorder.all == (reaction == .lock ? ["lock"] : reaction == .wipeSession ? ["wipe"] : []))
    if isWiped {
      #expect(throws: AppDataFailure.locked(.tampered)) { try key.withKey { _ in } }
    } else {
      try key.withKey { _ in }
    }

    // Evidence does not persist.
    bench.attack.set(false)
    try await session.unlock(by: bench.authentication)
    #expect(session.state() == .unlocked)
  }

  @Test("tampering blocks codes, approvals, accounts and cached passwords, but not lists and denials")
  func operations() async throws {
    let bench = try await Bench(.refuse)
    let (device, container) = (bench.device, bench.container)
    let imported = try AccountFile.read(
      Array("otpauth://totp/Example:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".utf8))
    let added = try await device.accounts.add(imported.accounts).added
    let id = try #require(added.first).id
    let (first, second) = (try await bench.ask(), try await bench.ask())
    try await device.verify(bench.authentication, for: container)
    bench.attack.set(true)
    await expectRefusal("a code") { () throws(SignetError) in
      _ = try await device.oneTimePassword(for: container, by: bench.authentication)
    }
    await expectRefusal("an approval") { () throws(SignetError) in
      try await device.decide(first, .accepted, with: container, by: bench.authentication)
    }
    await expectRefusal("an approval with what was kept") { () throws(SignetError) in
      try await device.decide(first, .accepted, with: container)
    }
    await expectRefusal("a verification") { () throws(SignetError) in
      try await device.verify(bench.authentication, for: container)
    }
    await expectRefusal("another password") { () throws(SignetError) in
      try await device.changePassword(
        of: container, from: secret(Self.password), to: secret("Another 42 tower"))
    }
    await expectRefusal("a code of an account") { () throws(SignetError) in
      _ = try await device.accounts.code(of: id)
    }
    #expect(try await device.pendingTransactions(for: container).count == 2)
    try await device.decide(first, .denied, with: container, by: bench.authentication)
    try await device.decide(second, .reported, with: container, by: bench.authentication)
    #expect(try await bench.server.server.decision(on: first.id) == .denied)
    bench.attack.set(false)
    _ = try await device.oneTimePassword(for: container, by: bench.authentication)
    _ = try await device.accounts.code(of: id)
  }

  @Test("tampering blocks UAF registration and signing; keys are still listed")
  func uaf() async throws {
    let attack = Switch()
    let gate = IntegrityGate(
      try Integrity(guards: [attack], settings: IntegritySettings(reaction: .refuse)))
    let (device, party) = (try UAFDevice(integrity: gate), try UAFParty())
    let key = try await device.register(.pin, with: party)
    attack.set(true)
    for attempt in [
      { _ = try await device.register(.pin, with: party, "bob") },
      { _ = try await device.authenticate(key, with: party) },
    ] as [() async throws -> Void] {
      do {
        try await attempt()
        Issue.record("not refused")
      } catch SignetError.integrity(.tampered(let report)) {
        #expect(report.evidence.map(\.finding) == [.tracer])
      }
    }
    #expect(try await device.client.keys().map(\.username) == ["alice"])
    attack.set(false)
    // A right PIN that was refused has used up no attempt.
    #expect(try await device.authenticate(key, with: party).signCounter == 2)
  }

  @Test("a device without an integrity gate runs no guards")
  func withoutGate() async throws {
    let bench = try await Bench(.refuse)
    bench.attack.set(true)
    let session = Session(for: bench.container, on: bench.fixture.device)
    try await session.unlock(by: bench.authentication)
    #expect(session.state() == .unlocked && bench.attack.looks == 0)
  }

  @Test("without a guard's result there is no score, and all findings go to the server")
  func evidence() async throws {
    struct Failing: Guard {
      let name = "failing"
      func examine() throws -> [Evidence] { throw GuardFailure("no right") }
    }
    struct Describing: Guard {
      let name = "describing"
      func examine() -> [Evidence] { [Evidence(.container, "Docker"), Evidence(.coreDumps, "dumps")] }
    }
    let calm = await IntegrityEvidence(try Integrity(guards: [Describing()])).evidence()
    #expect(calm.tamperScore == 0.2 && calm.tamperFindings.map(\.category) == ["coreDumps", "emulator"])
    let blind = await IntegrityEvidence(try Integrity(guards: [Describing(), Failing()])).evidence()
    #expect(blind.tamperScore == nil)
    let policies = try AccountPolicySet(["deviceTampering": [:]])
    let report = await AccountPolicyEvaluator().evaluate(policies, blind)
    #expect(!report.isCompliant)
  }
}
