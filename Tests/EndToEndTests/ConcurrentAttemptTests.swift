import Foundation
import SignetJSON
import SignetTestKit
import SignetTesting
import Testing

/// Several processes that try one password at the same moment.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConcurrentAttemptTests {
  private static let rules = "UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=40;LOCKTYPE=lock"
  private static let right = "winter-garden-42"
  private static let wrong = "summer-garden-42"
  /// Indicates whether each policy and kind of key is tried, or only some.
  private static let isLong = KillCount.wanted != nil
  /// The number of rounds; the race that these tests look for showed once in six, and erased the container each time.
  private static let rounds = isLong ? 6 : 1
  /// The numbers of right and wrong passwords at once; the wrong ones exceed the largest limit.
  private static let (rightCount, wrongCount) = (6, 24)

  /// Starts a number of processes and waits for all.
  private func atOnce(
    _ count: Int, _ command: () throws -> ChildCommand
  ) async throws -> [ServerCommand.Result] {
    let children = try (0..<count).map { _ in try command().start() }
    var results: [ServerCommand.Result] = []
    for child in children { results.append(try await child.result()) }
    return results
  }

  private func expectNoneRefused(_ results: [ServerCommand.Result]) {
    for result in results { #expect(result.status == 0 && !result.output.isEmpty, result.summary) }
  }

  /// The lock state of the only container, or of one of its keys.
  private func lock(of device: InstalledSignet, key: String? = nil) async throws -> String {
    let listed = try await device.json("list").array("containers")
    guard case .object(let container)? = listed.first else { throw JSONFailure.missingMember("containers") }
    guard let key else { return try container.object("lock").string("state") }
    return try container.object("keyLocks").object(key).string("state")
  }

  @Test(
    "correct passwords: none is refused, delayed or erases",
    arguments: ["\(rules);LOCKCOUNTER=1;LOCKWIPE=1", "psd2"]
      + (isLong ? ["\(rules);LOCKCOUNTER=5;LOCKWIPE=1"] : []))
  func rightOnes(_ policy: String) async throws {
    let server = try await RunningServer.startWithShop(["--policy", policy])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [Self.right])
    for _ in 0..<Self.rounds {
      expectNoneRefused(
        try await atOnce(Self.rightCount) { try device.process(["otp"], passwords: [Self.right]) })
    }
    #expect(try await lock(of: device) == "unlocked")
    await server.stop()
  }

  #if os(Linux)
    @Test("correct passwords with a TPM", .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
    func rightOnesOnTPM() async throws {
      let tpm = try SimulatedTPM()
      let server = try await RunningServer.startWithShop([
        "--policy", "\(Self.rules);LOCKCOUNTER=1;LOCKWIPE=1",
      ])
      var device = server.device()
      device.launcher = ["/usr/bin/env", "SIGNET_TPM=\(tpm.address)"]
      _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [Self.right])
      for _ in 0..<Self.rounds {
        expectNoneRefused(
          try await atOnce(Self.rightCount) { try device.process(["otp"], passwords: [Self.right]) })
      }
      #expect(try await lock(of: device) == "unlocked")
      await server.stop()
      withExtendedLifetime(tpm) {}
    }
  #endif

  @Test("concurrent wrong passwords: no more than the limit are tried", arguments: [5, 3, 1])
  func wrongOnes(limit: Int) async throws {
    let server = try await RunningServer.startWithShop(["--policy", "\(Self.rules);LOCKCOUNTER=\(limit)"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [Self.right])
    let results = try await atOnce(Self.wrongCount) { try device.process(["otp"], passwords: [Self.wrong]) }
    let tried = results.filter { $0.isRefusal(77, "the password is wrong") }
    #expect(tried.count == limit)
    for result in results where !result.errorOutput.contains("the password is wrong") {
      #expect(result.isRefusal(77, "locked after too many"), result.summary)
    }
    #expect(try await lock(of: device) == "lockedOut")
    let late = try await device.run("otp", passwords: [Self.right])
    #expect(late.isRefusal(77, "locked after too many"), late.summary)
    await server.stop()
  }

  @Test("concurrent wrong passwords of a session key: no more than its limit are tried")
  func wrongOnesOfSession() async throws {
    let server = try await RunningServer.startWithShop([
      "--policy", "\(Self.rules);LOCKCOUNTER=5", "--session-policy", "\(Self.rules);LOCKCOUNTER=3",
    ])
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [Self.right, "session-garden-42"])
    let results = try await atOnce(8) { try device.process(["pending"], passwords: [Self.wrong]) }
    #expect(results.count { $0.isRefusal(77, "the password is wrong") } == 3)
    #expect(results.allSatisfy { $0.status == 77 })
    #expect(try await lock(of: device, key: "session") == "lockedOut")
    #expect(try await lock(of: device) == "unlocked")
    await server.stop()
  }

  /// The waits after each failure, in seconds, starting with the first, and the commands that try a secret.
  private struct Waits {
    let seconds: [Int]
    /// The messages for a wrong secret and for one that was not tried.
    let (wrong, untried): (String, [String])
    let command: @Sendable (_ isRight: Bool) throws -> ChildCommand

    /// Indicates whether a command had to wait and tried nothing.
    func isUntried(_ result: ServerCommand.Result) -> Bool {
      result.status == 77 && result.output.isEmpty && untried.contains { result.errorOutput.contains($0) }
    }

    /// The maximum number of attempts that the waits allow in a time after the first attempt.
    func most(within time: Duration) -> Int {
      var end = Duration.zero
      return 1
        + seconds.prefix {
          end += .seconds($0)
          return end <= time
        }.count
    }
  }

  /// Tries wrong secrets at once, as many of which are tried as the waits allow, then the right one, which has to wait too.
  ///
  /// The expected number depends on the time that all of it took: on a busy machine a wait may end in between.
  private func expectWaiting(_ waits: Waits, untilItIsOver: Bool) async throws {
    let start = ContinuousClock.now
    let results = try await atOnce(Self.wrongCount) { try waits.command(false) }
    let tried = results.count { $0.isRefusal(77, waits.wrong) }
    let allowed = waits.most(within: .zero)...waits.most(within: start.duration(to: .now))
    #expect(allowed.contains(tried), "\(tried) of \(allowed)")
    for result in results where !result.errorOutput.contains(waits.wrong) {
      #expect(waits.isUntried(result), result.summary)
    }
    var right = try await waits.command(true).finish()
    if waits.most(within: start.duration(to: .now)) == tried {
      #expect(waits.isUntried(right), right.summary)
    }
    guard untilItIsOver else { return }
    // If the untried ones had been counted, the wait would be more than half an hour, or endless.
    while waits.isUntried(right) {
      try await Task.sleep(for: .milliseconds(100))
      right = try await waits.command(true).finish()
    }
    #expect(right.status == 0, right.summary)
  }

  @Test("concurrent wrong passwords of imported accounts: one is tried, then all wait")
  func wrongOnesOfAccounts() async throws {
    let folder = try TemporaryFolder()
    let device = InstalledSignet(data: folder.file("device"))
    _ = try await device.json("import", "otpauth://totp/Bank:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    #expect(try await device.run("account", "protect", passwords: [Self.right]).status == 0)
    let waits = Waits(
      seconds: (1...11).map { 1 << $0 }, wrong: "the password is wrong",
      untried: ["before the next password; this one was not tried"]
    ) { try device.process(["otp", "Bank"], passwords: [$0 ? Self.right : Self.wrong]) }
    // Each round but the first follows a success, which has reset the failures.
    for _ in 0..<(Self.isLong ? 4 : 1) { try await expectWaiting(waits, untilItIsOver: true) }
  }

  @Test(
    "concurrent wrong PINs and passwords of UAF keys: three are tried, then all wait",
    arguments: isLong ? ["pin", "password"] : ["pin"])
  func wrongOnesOfUAFKeys(_ kind: String) async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let (right, wrong) = kind == "pin" ? ("864209", "135790") : (Self.right, Self.wrong)
    let made = try await device.run(
      ["uaf", "register", "alice", "-a", kind, "--token-fd", "0"] + party.words,
      passwords: [party.key, right])
    try #require(made.status == 0, made.summary)
    let words = ["uaf", "authenticate", "alice", "-a", kind] + party.words
    let waits = Waits(
      seconds: [0, 0, 60, 180], wrong: "is wrong",
      untried: ["wait until the next try is allowed", "the next is allowed in"]
    ) { try device.process(words, passwords: [$0 ? right : wrong]) }
    try await expectWaiting(waits, untilItIsOver: Self.isLong)
    await party.server.stop()
  }

  @Test("the password of a session key, under a limit of one")
  func sessionKey() async throws {
    let server = try await RunningServer.startWithShop([
      "--policy", "\(Self.rules);LOCKCOUNTER=5", "--session-policy", "\(Self.rules);LOCKCOUNTER=1;LOCKWIPE=1",
    ])
    let (device, session) = (server.device(), "session-garden-42")
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: [Self.right, session])
    _ = try await server.ask("alice", "Pay 1 EUR")
    for _ in 0..<Self.rounds {
      let results = try await atOnce(Self.rightCount) {
        try device.process(["pending"], passwords: [session])
      }
      expectNoneRefused(results)
    }
    #expect(try await lock(of: device, key: "session") == "unlocked")
    await server.stop()
  }

  @Test("the password of imported accounts, after one failure of which the next would wait")
  func accounts() async throws {
    let folder = try TemporaryFolder()
    let device = InstalledSignet(data: folder.file("device"))
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    _ = try await device.json("import", "otpauth://hotp/Bank:bob?secret=\(secret)&issuer=Bank&counter=0")
    #expect(try await device.run("account", "protect", passwords: [Self.right]).status == 0)
    var codes = [try await device.run("otp", "Bank", passwords: [Self.right]).output]
    for _ in 0..<Self.rounds {
      let results = try await atOnce(Self.rightCount) {
        try device.process(["otp", "Bank"], passwords: [Self.right])
      }
      expectNoneRefused(results)
      codes += results.map(\.output)
    }
    #expect(Set(codes).count == codes.count)
  }

  @Test(
    "the PIN and the password of UAF keys, of which the third failure waits",
    arguments: isLong ? ["pin", "password"] : ["pin"])
  func uafKeys(_ kind: String) async throws {
    let party = try await UAFParty.start()
    let (device, secret) = (party.device(), kind == "pin" ? "864209" : Self.right)
    let made = try await device.run(
      ["uaf", "register", "alice", "-a", kind, "--token-fd", "0"] + party.words,
      passwords: [party.key, secret])
    try #require(made.status == 0, made.summary)
    let words = ["uaf", "authenticate", "alice", "-a", kind] + party.words
    for _ in 0..<Self.rounds {
      expectNoneRefused(try await atOnce(Self.rightCount) { try device.process(words, passwords: [secret]) })
    }
    // With kills between two successes: a process killed in the short step leaves a counted attempt, which the next success
    // resets.
    let crowd = ChildCrowd()
    let total = Self.isLong ? 12 : 6
    /// Indicates whether there was no refusal yet, and there are too few successes or no kill.
    @Sendable func goesOn() -> Bool {
      (crowd.successes < total || crowd.deaths == 0) && crowd.refusals.isEmpty
    }
    var random = SeededRandom(test: "right \(kind)s beside kills")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while goesOn() { try await crowd.run(try device.process(words, passwords: [secret])) }
        }
      }
      while goesOn() {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<300, using: &random)))
        guard crowd.killOne(using: &random) else { continue }
        let before = crowd.successes
        while crowd.successes < before + 4, goesOn() { try await Task.sleep(for: .milliseconds(10)) }
      }
      try await group.waitForAll()
    }
    #expect(crowd.refusals == [])
    #expect(crowd.deaths > 0)
    #expect(try await device.run(words, passwords: [secret]).status == 0)
    await party.server.stop()
  }
}
