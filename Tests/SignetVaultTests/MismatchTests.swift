import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Synchronization
import Testing

/// Other prompts, open or interrupted, must not make a finger fail; and each mismatch counts.
@Suite("Concurrent biometric mismatches", .timeLimit(.minutes(10)))
struct MismatchTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let id: LocalContainerID

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    try await vault.enableBiometrics(
      for: vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password))),
      .simulated(fingers: 1))
  }

  /// Opens with a sensor; returns the key or the error.
  private static func open(_ vault: Vault, _ id: LocalContainerID, with sensor: any BiometricGate) async
    -> String
  {
    do throws(VaultFailure) {
      let opened = try await vault.openWithBiometrics("keys", of: id, with: sensor, reason: "Sign in")
      do { return try opened.text("signing") } catch { return "\(error)" }
    } catch {
      if case .biometric(let failure) = error { return "\(failure)" }
      return "\(error)"
    }
  }

  private func open(with sensor: any BiometricGate, in other: Vault? = nil) async -> String {
    await Self.open(other ?? vault, id, with: sensor)
  }

  private static let key = "signing key"
  private static let lockedOut = "\(BiometricFailure.lockedOut)"
  private static let mismatch = "\(BiometricFailure.mismatch)"

  /// The stored number of mismatches.
  private func count() throws -> Int64 { try Self.count(fixture.databasePath) }

  private static func count(_ path: String) throws -> Int64 {
    let database = try Database(path: path, mode: .readOnly)
    return try #require(database.query("SELECT failed FROM slot WHERE kind = 3").first).integer("failed")
  }

  @Test(
    "mismatches are counted one by one while waiting; a match resets them")
  func countedWhenReported() async throws {
    let path = fixture.databasePath
    let sensor = ScriptedSensor { (report) throws in
      #expect(try Self.count(path) == 0)
      for (remaining, expected) in [(2, 1), (1, 2)] {
        report(remaining)
        #expect(try Self.count(path) == expected)
      }
      return .failure(.cancelled)
    }
    #expect(await open(with: sensor) == "\(BiometricFailure.cancelled)")
    #expect(try count() == 2)
    // The end of a match, or a hint, reports its last mismatch, which counts once in either case.
    #expect(await open(with: ScriptedSensor { _ in .failure(.mismatch) }) == Self.mismatch)
    #expect(try count() == 3)
    let hinting = ScriptedSensor { report in
      report(0)
      return .failure(.mismatch)
    }
    #expect(await open(with: hinting) == Self.mismatch)
    #expect(try count() == 4)
    #expect(await open(with: SimulatedBiometrics()) == Self.key)
    #expect(try count() == 0)
  }

  @Test(
    "other failures count no mismatch: cancelled, busy, timed out, broken, system lockout"
  )
  func uncounted() async throws {
    for failure in [
      BiometricFailure.cancelled, .busy, .timedOut, .lockedOut, .unavailable("x"), .notAuthorized,
    ] {
      for _ in 0..<5 {
        #expect(await open(with: ScriptedSensor { _ in .failure(failure) }) == "\(failure)")
      }
    }
    #expect(try count() == 0)
    #expect(await open(with: SimulatedBiometrics()) == Self.key)
  }

  @Test("prompts interrupted or killed without a touch are not counted")
  func interrupted() async throws {
    for _ in 0..<6 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = fixture.directory as String, id = id.description as String] in
        let vault = try VaultFixture.open(directory)
        let sensor = ScriptedSensor { _ in
          kill(getpid(), SIGKILL)
          return .failure(.cancelled)
        }
        _ = await MismatchTests.open(vault, try #require(LocalContainerID(id)), with: sensor)
      }
      let task = Task { [vault, id] in
        let sensor = SimulatedBiometrics()
        sensor.queue(.nobody)
        return await Self.open(vault, id, with: sensor)
      }
      task.cancel()
      #expect(await task.value == "\(BiometricFailure.cancelled)")
      #expect(try count() == 0)
    }
    #expect(await open(with: SimulatedBiometrics()) == Self.key)
  }

  @Test(
    "a mismatch is counted even if the process is killed after its report")
  func killedAfterMismatch() async throws {
    for expected in 1...5 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = fixture.directory as String, id = id.description as String] in
        let vault = try VaultFixture.open(directory)
        let sensor = ScriptedSensor { report in
          report(2)
          kill(getpid(), SIGKILL)
          return .failure(.cancelled)
        }
        _ = await MismatchTests.open(vault, try #require(LocalContainerID(id)), with: sensor)
      }
      #expect(try count() == expected)
    }
    #expect(await open(with: SimulatedBiometrics()) == Self.lockedOut)
    #expect(try await vault.signingKey(of: id) == Self.key)
    #expect(await open(with: SimulatedBiometrics()) == Self.key)
  }

  @Test("five open prompts do not block a sixth, and concurrent mismatches both count")
  func openPrompts() async throws {
    let prompts = try (0..<6).map { _ in Prompt(try fixture.open(), id) }
    for prompt in prompts { await prompt.isOpen() }
    #expect(try count() == 0)
    prompts[0].answer(.failure(.mismatch))
    prompts[1].answer(.failure(.mismatch))
    #expect(await prompts[0].ending() == Self.mismatch)
    #expect(await prompts[1].ending() == Self.mismatch)
    #expect(try count() == 2)
    for prompt in prompts[2..<5] { prompt.answer(.failure(.cancelled)) }
    for prompt in prompts[2..<5] { #expect(await prompt.ending() == "\(BiometricFailure.cancelled)") }
    #expect(try count() == 2)
    prompts[5].answer(.success(.simulated(fingers: 1)))
    #expect(await prompts[5].ending() == Self.key)
    #expect(try count() == 0)
  }

  @Test("five mismatches lock all open prompts: no later finger opens")
  func noMoreThanFive() async throws {
    let prompts = try (0..<8).map { _ in Prompt(try fixture.open(), id) }
    for prompt in prompts { await prompt.isOpen() }
    for (number, prompt) in prompts[..<7].enumerated() {
      prompt.answer(.failure(.mismatch))
      #expect(await prompt.ending() == Self.mismatch)
      #expect(try count() == min(Int64(number) + 1, 5))
    }
    prompts[7].answer(.success(.simulated(fingers: 1)))
    #expect(await prompts[7].ending() == Self.lockedOut)
    #expect(try count() == 5)
    let untouched = SimulatedBiometrics()
    #expect(await open(with: untouched) == Self.lockedOut)
    #expect(untouched.reasons.isEmpty, "nobody is asked to touch it for nothing")
  }

  @Test(
    "the fifth mismatch stops its match before another finger, as does one that cannot be counted"
  )
  func calledOff() async throws {
    for _ in 0..<3 { #expect(await open(with: ScriptedSensor { _ in .failure(.mismatch) }) == Self.mismatch) }
    #expect(await open(with: PersistentSensor(tries: 2)) == Self.lockedOut)
    #expect(try count() == 5)
    #expect(try await vault.signingKey(of: id) == Self.key)

    let failing = try fixture.open { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT INTO slot") { throw .diskFull(extendedCode: 13) }
    }
    #expect(await open(with: PersistentSensor(tries: 1), in: failing) == "\(VaultFailure.diskFull)")
    // The same for a match that ends with a mismatch, or that succeeds.
    #expect(
      await open(with: ScriptedSensor { _ in .failure(.mismatch) }, in: failing) == "\(VaultFailure.diskFull)"
    )
    #expect(await open(with: SimulatedBiometrics(), in: failing) == "\(VaultFailure.diskFull)")
  }

  @Test("50 concurrent mismatches in ten vaults: exactly five are counted and nothing opens")
  func race() async throws {
    let vaults = try (0..<10).map { _ in try fixture.open() }
    let id = id
    let endings = await withTaskGroup(of: String.self) { group in
      for number in 0..<50 {
        group.addTask {
          await Self.open(
            vaults[number % 10], id,
            with: ScriptedSensor { report in
              report(1)
              return .failure(.mismatch)
            })
        }
      }
      var endings: [String] = []
      for await ending in group { endings.append(ending) }
      return endings
    }
    #expect(endings.allSatisfy { $0 == Self.mismatch || $0 == Self.lockedOut })
    // Two for each match: in three matches at most, the second one still counted or did not lock.
    #expect(endings.count { $0 == Self.mismatch } <= 4)
    #expect(try count() == 5)
    #expect(await open(with: SimulatedBiometrics()) == Self.lockedOut)
  }

  @Test("50 concurrent matching fingers all open")
  func rightOnesAtOnce() async throws {
    let vaults = try (0..<10).map { _ in try fixture.open() }
    let id = id
    await withTaskGroup(of: String.self) { group in
      for number in 0..<50 {
        group.addTask { await Self.open(vaults[number % 10], id, with: SimulatedBiometrics()) }
      }
      for await ending in group { #expect(ending == Self.key) }
    }
    #expect(try count() == 0)
  }

  @Test("with a hardware counter an older copy restores no biometric attempts")
  func olderCopy() async throws {
    let (hardware, other) = (SimulatedHardware(), try VaultFixture())
    let vault = try other.open(keystore: hardware)
    let id = try await vault.addContainer(.sample())
    try await vault.enableBiometrics(
      for: vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password))),
      .simulated(fingers: 1))
    let copy = other.folder.file("copy")
    try FileManager.default.copyItem(atPath: other.directory, toPath: copy)
    // Open before: opening the copy later is rejected as a whole.
    let older = try VaultFixture.open(copy, keystore: hardware)
    #expect(await Self.open(vault, id, with: ScriptedSensor { _ in .failure(.mismatch) }) == Self.mismatch)
    for sensor in [SimulatedBiometrics(), ScriptedSensor { _ in .failure(.mismatch) }] as [any BiometricGate]
    {
      do throws(VaultFailure) {
        _ = try await older.openWithBiometrics("keys", of: id, with: sensor, reason: "")
        Issue.record("an older copy opened")
      } catch {
        guard case .rolledBack = error else {
          Issue.record(error)
          continue
        }
      }
    }
  }
}

/// A sensor that runs a test's script at once.
private struct ScriptedSensor: BiometricGate {
  typealias Ending = Result<EnrolledSet, BiometricFailure>

  /// The script; it gets the function that reports a mismatch and the remaining attempts.
  let body: @Sendable (_ report: (Int) -> Void) throws -> Ending

  func state() async throws(BiometricFailure) -> BiometricState { .ready(.simulated(fingers: 1)) }

  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet {
    let ending: Ending
    do { ending = try body { hints(.notRecognised(remaining: $0)) } } catch {
      Issue.record(error)
      throw .cancelled
    }
    return try ending.get()
  }

  func endLockout() async {}
}

/// A user who tries a stranger's finger a number of times, and whose match ends only when it is cancelled.
private struct PersistentSensor: BiometricGate {
  let tries: Int

  func state() async throws(BiometricFailure) -> BiometricState { .ready(.simulated(fingers: 1)) }

  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet {
    for _ in 0..<tries { hints(.notRecognised(remaining: 9)) }
    for await _ in AsyncStream<Never>.makeStream().stream {}  // ends with the task
    throw .cancelled
  }

  func endLockout() async {}
}

/// A match that waits for a test's result.
private final class Prompt: Sendable {
  private let opened = AsyncStream<Void>.makeStream()
  private let answered = AsyncStream<ScriptedSensor.Ending>.makeStream()
  private let task: Mutex<Task<String, Never>?> = Mutex(nil)

  init(_ vault: Vault, _ id: LocalContainerID) {
    let sensor = Sensor(opened: opened.continuation, answers: answered.stream)
    let task = Task { () -> String in
      do throws(VaultFailure) {
        let domain = try await vault.openWithBiometrics("keys", of: id, with: sensor, reason: "Sign in")
        do { return try domain.text("signing") } catch { return "\(error)" }
      } catch {
        if case .biometric(let failure) = error { return "\(failure)" }
        return "\(error)"
      }
    }
    self.task.withLock { $0 = task }
  }

  /// Returns when the sensor waits for a finger.
  func isOpen() async { for await _ in opened.stream { return } }

  func answer(_ ending: ScriptedSensor.Ending) { answered.continuation.yield(ending) }

  func ending() async -> String { await task.withLock(\.self)?.value ?? "" }

  private struct Sensor: BiometricGate {
    let opened: AsyncStream<Void>.Continuation
    let answers: AsyncStream<ScriptedSensor.Ending>

    func state() async throws(BiometricFailure) -> BiometricState { .ready(.simulated(fingers: 1)) }

    func match(
      _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
    ) async throws(BiometricFailure) -> EnrolledSet {
      opened.yield()
      for await ending in answers { return try ending.get() }
      throw .cancelled
    }

    func endLockout() async {}
  }
}
