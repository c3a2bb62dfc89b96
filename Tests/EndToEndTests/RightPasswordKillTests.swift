import Foundation
import SignetJSON
import SignetTestKit
import SignetTesting
import Testing

/// Programs that get the right password and are ended before they finish.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct RightPasswordKillTests {
  private static let policy =
    "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=40;LOCKTYPE=lock;LOCKCOUNTER=5;LOCKWIPE=1"
  private static let right = "winter-garden-42"
  private static let interruptions = KillCount.wanted.map { 5 * $0 } ?? 6
  /// The number of concurrent programs.
  private static let size = 8

  private func activated(_ tpm: String? = nil) async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(["--policy", Self.policy])
    var device = server.device()
    if let tpm { device.launcher = ["/usr/bin/env", "SIGNET_TPM=\(tpm)"] }
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [Self.right])
    return (server, device)
  }

  /// The remaining attempts, as another program sees them.
  private func remaining(_ device: InstalledSignet) async throws -> Int {
    let listed = try await device.json("list").array("containers")
    guard case .object(let container)? = listed.first else { throw JSONFailure.missingMember("containers") }
    let lock = try container.object("lock")
    switch try lock.string("state") {
    case "unlocked": return 5
    case "lastAttemptFailed": return Int(try lock.integer("remaining"))
    case let state:
      Issue.record("\(state)")
      return 0
    }
  }

  @Test(
    "a kill costs an attempt only between the commits of the count and of the success",
    .enabled(if: StepTrap.isThere))
  func atEachStep() async throws {
    let (server, device) = try await activated()
    let trap = try StepTrap(["pwrite64", "fdatasync", "fsync"])
    var (trapped, losses, step) = (device, [Int](), 0)
    trapped.launcher = trap.launcher
    while true {
      step += 1
      try #require(step < 100)
      try trap.arm(step)
      let result = try await trapped.run("otp", passwords: [Self.right])
      let wasSprung = try trap.wasSprung
      try trap.disarm()
      #expect(result.status == (wasSprung ? -SIGKILL : 0), "step \(step): \(result.summary)")
      let left = try await remaining(device)
      #expect([4, 5].contains(left), "step \(step)")
      if left < 5 {
        losses.append(step)
        #expect(try await device.run("otp", passwords: [Self.right]).status == 0)
        #expect(try await remaining(device) == 5)
      }
      if !wasSprung { break }
    }
    print("a try is lost at \(losses) of \(step - 1) steps")
    let (first, last) = (try #require(losses.first), try #require(losses.last))
    // Each commit writes its pages and then waits for the disk.
    #expect(first > 1 && losses == Array(first...last) && losses.count <= 12, "\(losses)")
    await server.stop()
  }

  @Test("an interruption at any moment costs at most one attempt, and none permanently")
  func interrupted() async throws { try await interrupt(nil) }

  #if os(Linux)
    @Test("the same on a TPM", .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
    func interruptedOnTPM() async throws {
      let tpm = try SimulatedTPM()
      try await interrupt(tpm.address)
      withExtendedLifetime(tpm) {}
    }
  #endif

  private func interrupt(_ tpm: String?) async throws {
    let (server, device) = try await activated(tpm)
    var random = SeededRandom(test: "interrupted attempts")
    let start = ContinuousClock.now
    let undisturbed = try await device.run("otp", passwords: [Self.right])
    #expect(undisturbed.status == 0, undisturbed.summary)
    var whole = start.duration(to: .now)
    var (ended, lost, left) = (0, 0, 5)
    // A signal that comes too late interrupts nothing; the next one comes earlier.
    var late = 0
    while ended < Self.interruptions {
      try #require(late < 20 * KillRounds.count, "no signal ends the command")
      let signal = [SIGINT, SIGTERM, SIGKILL][ended % 3]
      let child = try device.process(["otp"], passwords: [Self.right]).start()
      let delay = whole * Double.random(in: 0.2..<1, using: &random)
      try await Task.sleep(for: delay)
      whole = child.isRunning ? whole * 1.05 : delay
      child.send(signal)
      let result = try await child.result()
      #expect([0, -signal].contains(result.status), result.summary)
      let now = try await remaining(device)
      if result.status == 0 {
        late += 1
        #expect(now == 5)
      } else {
        ended += 1
        lost += now < left ? 1 : 0
        // Five again if the password had been verified before the signal, and the code was still to be made or printed.
        #expect([left - 1, left, 5].contains(now))
      }
      left = now
      if left == 1 {
        // A success in between, since chance alone may lose attempts in a row and must not erase the container.
        #expect(try await device.run("otp", passwords: [Self.right]).status == 0)
        left = 5
      }
    }
    // The number is random; ``atEachStep()`` bounds the window in which an attempt is lost.
    print("\(ended) interruptions cost \(lost) tries")
    #expect(try await device.run("otp", passwords: [Self.right]).status == 0)
    await server.stop()
  }

  @Test("8 concurrent processes with at most one kill between successes: none is refused or locked")
  func beside() async throws {
    let (server, device) = try await activated()
    let total = 4 * KillRounds.count
    let crowd = ChildCrowd()
    var random = SeededRandom(test: "right passwords beside kills")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.size {
        group.addTask {
          while crowd.successes < total || crowd.deaths == 0, crowd.refusals.isEmpty {
            try await crowd.run(try device.process(["otp"], passwords: [Self.right]))
          }
        }
      }
      while crowd.successes < total || crowd.deaths == 0, crowd.refusals.isEmpty {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<300, using: &random)))
        guard crowd.killOne(using: &random) else { continue }
        // Each of the next programs to end may have succeeded before the kill.
        let before = crowd.successes
        while crowd.successes < before + Self.size, crowd.successes < total || crowd.deaths == 0,
          crowd.refusals.isEmpty
        {
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      try await group.waitForAll()
    }
    print("\(crowd.successes) right passwords, \(crowd.deaths) kills")
    #expect(crowd.refusals == [])
    #expect(crowd.successes >= total && crowd.deaths > 0)
    #expect(try await device.run("otp", passwords: [Self.right]).status == 0)
    #expect(try await remaining(device) == 5)
    await server.stop()
  }
}
