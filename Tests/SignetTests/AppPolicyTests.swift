import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetVault
import Synchronization
import Testing

import Signet

/// An app's policy on a real device and at a real server.
@Suite("Policies of apps, on devices and at servers", .timeLimit(.minutes(10)))
struct AppPolicyTests {
  private struct Failure: Error {}

  /// A policy whose verdict the test sets.
  private final class RegionPolicy: AccountPolicy {
    let name = "region"
    private let state = Mutex(
      (verdict: AccountPolicyVerdict?.some(.compliant), asked: [AccountPolicyParameters]()))

    /// Sets the verdict; `nil` throws.
    func say(_ verdict: AccountPolicyVerdict?) { state.withLock { $0.verdict = verdict } }

    var asked: [JSONValue] { state.withLock { $0.asked.map(\.value) } }

    func evaluate(
      _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
    ) async throws -> AccountPolicyVerdict {
      let verdict = state.withLock { state in
        state.asked.append(parameters)
        return state.verdict
      }
      guard let verdict else { throw Failure() }
      return verdict
    }
  }

  private struct Bench {
    let guarded: GuardedDevice
    let policy = RegionPolicy()
    let device: Device

    init(rules: @Sendable (inout AccountRules) -> Void = { _ in }) async throws {
      var guarded = try await GuardedDevice(["region": ["wanted": "ch"], "screenLock": [:]]) {
        $0.screenLock = true
      }
      var accountRules = AccountRules()
      rules(&accountRules)
      let server = try await guarded.inviting.server.restarted { [accountRules] in
        $0.accountRules = accountRules
      }
      guarded = try GuardedDevice(InvitingServer(folder: guarded.inviting.folder, server: server)) {
        $0.screenLock = true
      }
      self.guarded = guarded
      device = try Self.device(guarded, policy)
    }

    /// Another device object over the same vault.
    static func device(_ guarded: GuardedDevice, _ policy: RegionPolicy?) throws -> Device {
      var registry = AccountPolicyRegistry()
      if let policy { try registry.register(policy) }
      return Device(
        vault: guarded.fixture.vault,
        accountPolicies: AccountPolicies(
          evaluator: AccountPolicyEvaluator(registry: registry), sources: [guarded.given])
      ) { [transport = guarded.transport] _ throws(TransportFailure) in transport }
    }

    func activate() async throws -> Container {
      try await device.createContainer(
        ContainerInitialization(code: guarded.inviting.invite()), handler: ScriptedActivation(reply: .abort))
    }
  }

  private static let broken = AccountPolicyVerdict.breached(
    reason: "the device is elsewhere", evidence: ["region": "de"])

  @Test("an app's policy refuses enrolment, and later locks and unlocks, after the built-in ones")
  func locks() async throws {
    let bench = try await Bench()
    bench.policy.say(Self.broken)
    let code = try await bench.guarded.inviting.invite()
    let refused = await signetError {
      _ = try await bench.device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    guard case .accountPolicyBroken(let breaches)? = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(breaches.map(\.policy) == ["region"] && breaches[0].evidence == ["region": "de"])
    bench.policy.say(.compliant)
    let container = try await bench.activate()
    #expect(bench.policy.asked.allSatisfy { $0 == ["wanted": "ch"] } && !bench.policy.asked.isEmpty)
    _ = try await bench.device.oneTimePassword(for: container)
    bench.policy.say(Self.broken)
    bench.guarded.given.set { $0.screenLock = false }
    guard
      case .accountLocked(let lock)? = await signetError(of: {
        _ = try await bench.device.oneTimePassword(for: container)
      })
    else {
      Issue.record("a code was made")
      return
    }
    #expect(
      lock.lockingPolicy == "screenLock" && lock.broken.map(\.breach.policy) == ["screenLock", "region"])
    // The verdict is stored for other readers of the vault, which evaluate nothing.
    let other = try Bench.device(bench.guarded, nil)
    let status = try await other.accountStatus(of: container)
    #expect(status.lock.broken.map(\.breach.policy) == ["screenLock", "region"])
    #expect(status.unknownPolicies == ["region"])
    // Without the policy, it cannot be evaluated as compliant.
    bench.guarded.given.set { $0.screenLock = true }
    #expect(
      try await other.evaluateAccountPolicies(of: container).lock.broken.map(\.breach.policy) == ["region"])
    bench.policy.say(.compliant)
    #expect(try await !bench.device.evaluateAccountPolicies(of: container).lock.isLocked)
    _ = try await bench.device.oneTimePassword(for: container)
    await bench.guarded.stop()
  }

  @Test("a policy that throws leaves the container's lock unchanged")
  func throwing() async throws {
    let bench = try await Bench()
    let container = try await bench.activate()
    bench.policy.say(nil)
    _ = try await bench.device.oneTimePassword(for: container)
    bench.policy.say(Self.broken)
    try await bench.device.evaluateAccountPolicies()
    bench.policy.say(nil)
    guard
      case .accountLocked(let lock)? = await signetError(of: {
        _ = try await bench.device.oneTimePassword(for: container)
      })
    else {
      Issue.record("a policy that throws unlocked the container")
      return
    }
    #expect(lock.lockingPolicy == "region")
    await bench.guarded.stop()
  }

  @Test(
    "the server accepts the device's result of an app policy and applies the operator's reaction",
    arguments: [
      (nil, ComplianceState.locked), (.allow, .open), (.stepUp, .stepUp),
    ] as [(AccountRules.Reaction?, ComplianceState)])
  func atTheServer(reaction: AccountRules.Reaction?, compliance: ComplianceState) async throws {
    let bench = try await Bench { if let reaction { $0.reactions = ["region": reaction] } }
    let container = try await bench.activate()
    bench.policy.say(Self.broken)
    guard case .reported(let status) = try await bench.device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(try await bench.guarded.state(container).compliance == compliance)
    #expect(status.lock.sources.contains(.policy))
    #expect((status.lock.server != nil) == (compliance == .locked))
    #expect((status.stepUpReason != nil) == (compliance == .stepUp))
    let reason = status.lock.server?.reason ?? status.stepUpReason
    if compliance != .open { #expect(reason == "region: the device is elsewhere") }
    // The next report, without the breach, is evaluated anew.
    bench.policy.say(.compliant)
    guard case .reported(let open) = try await bench.device.reportCondition(of: container) else {
      Issue.record("another case")
      return
    }
    #expect(!open.lock.isLocked && open.stepUpReason == nil)
    #expect(try await bench.guarded.state(container).compliance == .open)
    _ = try await bench.device.oneTimePassword(for: container)
    await bench.guarded.stop()
  }
}
