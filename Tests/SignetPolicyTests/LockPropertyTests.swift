import SignetPolicy
import SignetTestKit
import Testing

/// A second implementation of the decision: with tables and loops, and without clamping.
private func naiveDecision(_ policy: LockPolicy, _ state: AttemptState, _ now: BootInstant) -> AttemptDecision
{
  var waits: [Int64] = []  // after the first failure, the second, and so on
  var limit: Int?
  var atEnd = AttemptDecision.lockedOut
  switch policy {
  case .lock(let most, let consequence):
    limit = most
    waits = Array(repeating: 0, count: most)
    if consequence == .wipe { atEnd = .wipe }
  case .coolDown(let table, let consequence):
    limit = table.count + 1
    waits = table.map(Int64.init)
    if consequence == .wipe { atEnd = .wipe }
  case .delay(let seconds, let counter):
    var wait = Int64(seconds)
    for failure in 1...max(1, state.failedCount) {
      waits.append(wait)
      if failure < counter { wait += wait }
    }
  default: break
  }
  if let limit, state.failedCount >= limit { return atEnd }
  let remaining = limit.map { $0 - state.failedCount }
  guard state.failedCount > 0, state.failedCount <= waits.count else { return .allowed(remaining: remaining) }

  let start: Int64
  if let last = state.lastAttempt, last.bootID == now.bootID {
    start = last.millisecondsSinceBoot
  } else {
    start = 0
  }
  let end = max(start, 0) + waits[state.failedCount - 1] * 1000
  if now.millisecondsSinceBoot >= end || waits[state.failedCount - 1] == 0 {
    return .allowed(remaining: remaining)
  }
  let full = waits[state.failedCount - 1] * 1000  // at most, if the last attempt is in the future
  return .wait(.milliseconds(min(full, end - now.millisecondsSinceBoot)), remaining: remaining)
}

@Suite("Lock policy against a second implementation")
struct LockPropertyTests {
  @Test("the same decision, over random policies, states and moments", arguments: UInt64(1)...20)
  func agrees(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let policy = LockPolicy.random(&generator)
      func moment() -> BootInstant {
        BootInstant(
          bootID: BootID(high: 0, low: UInt64(generator.pick(1...2))),
          millisecondsSinceBoot: Int64(generator.pick(0...generator.element([1000, 100_000, 1_000_000_000]))))
      }
      let state = AttemptState(
        failedCount: generator.pick(0...110), lastAttempt: generator.chance(90) ? moment() : nil)
      let now = moment()
      let decision = policy.decision(after: state, at: now)
      if decision != naiveDecision(policy, state, now) {
        Issue.record("\(policy), \(state), \(now): \(decision) and \(naiveDecision(policy, state, now))")
      }
    }
  }

  /// The real time, and the device's view of it.
  private struct World {
    private(set) var milliseconds: Int64 = 0
    private var bootedAt: Int64 = 0
    private var boot: UInt64 = 0

    var now: BootInstant {
      BootInstant(bootID: BootID(high: 7, low: boot), millisecondsSinceBoot: milliseconds - bootedAt)
    }

    mutating func pass(_ duration: Int64) { milliseconds += duration }

    mutating func restart() {
      boot += 1
      bootedAt = milliseconds
    }
  }

  @Test("no restart allows an attempt earlier than the policy", arguments: UInt64(1)...20)
  func neverSooner(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<40 {
      let policy = LockPolicy.random(&generator)
      var world = World()
      var state = AttemptState()
      var attempts: [Int64] = []
      for _ in 0..<200 {
        switch policy.decision(after: state, at: world.now) {
        case .allowed:
          attempts.append(world.milliseconds)
          state = state.countingAttempt(at: world.now)
        case .wait(let wait, _):
          // Only an ended wait is followed by an attempt: half of it never suffices within one run.
          let (seconds, attoseconds) = wait.components
          let left = seconds * 1000 + attoseconds / 1_000_000_000_000_000
          world.pass(generator.chance(50) ? left / 2 : left)
        case .lockedOut, .wipe: break
        }
        if generator.chance(20) { world.restart() }
        if generator.chance(20) { world.pass(Int64(generator.pick(0...5000))) }
      }
      for (index, pair) in zip(attempts, attempts.dropFirst()).enumerated() {
        let wait = policy.wait(afterFailure: index + 1) * 1000
        if pair.1 - pair.0 < wait { Issue.record("\(policy): attempt \(index + 2) came too soon") }
      }
      if let limit = policy.limit { #expect(attempts.count <= limit) }
      #expect(!attempts.isEmpty)
    }
  }

  @Test("a success at any time gives all attempts back", arguments: UInt64(1)...5)
  func success(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let policy = LockPolicy.random(&generator)
      let now = BootInstant(bootID: BootID(high: 0, low: 0), millisecondsSinceBoot: 0)
      #expect(policy.decision(after: .afterSuccess, at: now) == .allowed(remaining: policy.limit))
      #expect(policy.status(after: .afterSuccess, at: now) == .unlocked)
    }
  }
}
