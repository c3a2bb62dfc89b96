import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Synchronization
import Testing

/// Other attempts, in progress or killed, must not make a right password fail.
@Suite("Concurrent attempts", .timeLimit(.minutes(10)))
struct AttemptTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  private static let oneTry = LockPolicy.lock(limit: 1, atLimit: .wipe)

  private func attempts(_ id: LocalContainerID) async throws -> AttemptDecision? {
    try await vault.domains(of: id).first { $0.slot == .password }?.attempts
  }

  @Test(
    "50 concurrent correct passwords all open, even if one failure erases or waits",
    arguments: [
      oneTry, .lock(limit: 1), .fiveAttempts, .coolDown(waits: [3600], atLimit: .wipe),
      .delay(seconds: 60, counter: 1), .none, .silent,
    ])
  func rightOnesAtOnce(_ lock: LockPolicy) async throws {
    let draft =
      lock == .silent
      ? ContainerDraft.silent(
        pin: VaultFixture.password, P256.Signing.PrivateKey(), [UInt8](repeating: 1, count: 32))
      : .sample(lock: lock)
    let id = try await vault.addContainer(draft)
    let vaults = try (0..<10).map { _ in try fixture.open() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          _ = try await vaults[number % 10].open(
            "keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await attempts(id) == .allowed(remaining: lock.limit))
  }

  @Test("the same with hardware that limits guesses and counts")
  func rightOnesAtOnceOnHardware() async throws {
    let (hardware, other) = (SimulatedHardware(), try VaultFixture())
    let id = try await other.open(keystore: hardware).addContainer(.sample(lock: Self.oneTry))
    let vaults = try (0..<10).map { _ in try other.open(keystore: hardware) }
    try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<50 { group.addTask { try await vaults[number % 10].signingKey(of: id) } }
      for try await key in group { #expect(key == "signing key") }
    }
  }

  @Test("during an undecided attempt other attempts, uses and status queries wait")
  func undecided() async throws {
    let id = try await vault.addContainer(.sample(lock: Self.oneTry))
    let opened = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    let slot = opened.openedSlot
    let (isCounted, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slow = try fixture.open(onTry: {
      isCounted.signal()
      mayGoOn.wait()
    })
    let first = Task.detached { try await slow.signingKey(of: id) }
    await Self.wait(for: isCounted)
    #expect(
      try fixture.rawDatabase().query("SELECT failed FROM slot WHERE kind = 2").first?[0] == .integer(1))

    let ended = Recorder<String>()
    let hasDerived = DispatchSemaphore(value: 0)
    let others = [
      try fixture.open(onDerivation: { hasDerived.signal() }), try fixture.open(), try fixture.open(),
    ]
    let tasks = [
      Task.detached {
        let key = try await others[0].signingKey(of: id)
        #expect(key == "signing key")
        ended.record("tried")
      },
      Task.detached {
        try await others[1].requireCurrent(slot)
        ended.record("used")
      },
      Task.detached {
        let domain = try await others[2].domains(of: id).first { $0.slot == .password }
        #expect(domain?.status == .unlocked && domain?.attempts == .allowed(remaining: 1))
        ended.record("told")
      },
    ]
    // The file's count has reached the limit, but that is provisional: the vault waits until it is sure.
    try await Task.sleep(for: .milliseconds(300))
    #expect(ended.entries.isEmpty)
    #expect(hasDerived.wait(timeout: .now()) == .timedOut, "who may not try yet has nothing to derive")
    mayGoOn.signal()
    #expect(try await first.value == "signing key")
    for task in tasks { try await task.value }
    #expect(ended.entries.sorted() == ["told", "tried", "used"])
  }

  @Test("an attempt that waits too long for others fails uncounted")
  func heldTurn() async throws {
    let id = try await vault.addContainer(.sample(lock: Self.oneTry))
    let held = try FolderLock("\(fixture.directory)/vault.attempt.lock", .exclusive(within: .zero))
    let hasty = try VaultFixture.open(fixture.directory, lockTimeout: .milliseconds(10))
    for password in [VaultFixture.password, "no"] {
      await #expect(throws: VaultFailure.busy) { try await hasty.signingKey(of: id, password) }
    }
    #expect(try await hasty.domains(of: id).first { $0.slot == .password }?.status == .unlocked)
    held?.release()
    #expect(try await hasty.signingKey(of: id) == "signing key")
  }

  @Test("a process killed during derivation has counted nothing, under a limit of one")
  func killedInDerivation() async throws {
    let id = try await vault.addContainer(.sample(lock: Self.oneTry))
    for _ in 0..<3 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = fixture.directory as String, id = id.description as String] in
        let vault = try VaultFixture.open(directory, onDerivation: { kill(getpid(), SIGKILL) })
        _ = try await vault.signingKey(of: try #require(LocalContainerID(id)))
      }
      #expect(try await attempts(id) == .allowed(remaining: 1))
    }
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test("a crash costs an attempt only between the commits of count and success")
  func crashedAnywhere() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    let pictures = try await fixture.pictures { vault in
      let key = try await vault.signingKey(of: id)
      #expect(key == "signing key")
    }
    var left: [AttemptDecision?] = []
    for folder in pictures {
      let copy = try VaultFixture.open(folder)
      left.append(try await copy.domains(of: id).first { $0.slot == .password }?.attempts)
      #expect(try await copy.signingKey(of: id) == "signing key")
      #expect(
        try await copy.domains(of: id).first { $0.slot == .password }?.attempts == .allowed(remaining: 3))
    }
    let (whole, less) = (AttemptDecision.allowed(remaining: 3), AttemptDecision.allowed(remaining: 2))
    let window = left.drop { $0 == whole }.prefix { $0 == less }
    #expect(left.count { $0 == less } == window.count, "\(left)")
    #expect(left.count { $0 == whole } == left.count - window.count)
    #expect((1...15).contains(window.count), "one reading and one writing of the rows: \(left)")
  }

  @Test("a correct attempt killed between count and success uses one attempt")
  func killedInStep() async throws {
    for (limit, expected) in [(1, VaultFailure.lockedOut), (2, nil)] as [(Int, VaultFailure?)] {
      let id = try await vault.addContainer(.sample(lock: .lock(limit: limit)))
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = fixture.directory as String, id = id.description as String] in
        let vault = try VaultFixture.open(directory, onTry: { kill(getpid(), SIGKILL) })
        _ = try await vault.signingKey(of: try #require(LocalContainerID(id)))
      }
      do {
        #expect(try await vault.signingKey(of: id) == "signing key")
        #expect(expected == nil && limit == 2)
      } catch { #expect(error as? VaultFailure == expected) }
    }
  }

  @Test("between count and result there are two commits, one comparison and no derivation")
  func shortStep() async throws {
    let id = try await vault.addContainer(.sample())
    let events = Recorder<String>()
    let observed = try fixture.open(
      willExecute: { (sql) throws(SQLiteFailure) in events.record(sql) },
      onDerivation: { events.record("derivation") }, onTry: { events.record("test") })
    for kind in ["right", "wrong"] {
      let before = events.entries.count
      if kind == "right" {
        #expect(try await observed.signingKey(of: id) == "signing key")
      } else {
        await #expect(throws: VaultFailure.wrongPassword(remaining: 4)) {
          try await observed.signingKey(of: id, "no")
        }
      }
      let made = events.entries[before...]
      let derived = try #require(made.lastIndex(of: "derivation"))
      // The reads for the derivation come first; the count is the first write.
      let begin = try #require(made.firstIndex { $0.hasPrefix("BEGIN IMMEDIATE") })
      let end = try #require(made.lastIndex(of: "COMMIT"))
      #expect(derived < begin && made.count { $0 == "derivation" } == 1, "\(made)")
      let step = made[begin...end]
      let isRight = kind == "right"
      #expect(step.count { $0 == "COMMIT" } == (isRight ? 2 : 1), "\(made)")
      #expect(made[begin...].count { $0 == "test" } == 1)
      #expect(isRight == step.contains("test"), "the count of a wrong one is committed before it is tried")
      print("the short step of a \(kind) password: \(step.count { $0 != "test" }) statements")
      #expect(step.count { $0 != "test" } <= (isRight ? 21 : 11), "\(step)")
    }
  }

  @Test("a disk failure costs a correct attempt at most; the next correct one resets the count")
  func failingDisk() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    let (whole, less) = (AttemptDecision.allowed(remaining: 3), AttemptDecision.allowed(remaining: 2))
    var left: [AttemptDecision?] = []
    let failures = try await fixture.failingEachStatement { vault throws(VaultFailure) in
      let opened = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
      #expect(opened.name == "keys")
    } check: { _ in
      left.append(try await attempts(id))
      #expect(try await vault.signingKey(of: id) == "signing key")
      #expect(try await attempts(id) == whole)
    }
    #expect(failures == left.count && failures > 15, "every statement of it")
    // The statements of the second transaction, and no others.
    #expect(left.drop { $0 == whole }.allSatisfy { $0 == less } && left.last == less, "\(left)")
    #expect((1...12).contains(left.count { $0 == less }), "\(left)")
  }

  @Test(
    "if a slot is replaced during derivation, the key is derived again without counting")
  func replaced() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    let change = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let slow = try fixture.open(onDerivation: {
      guard let change = change.withLock({ $0.take() }) else { return }
      Self.block(change)
    })
    let better = try fixture.open(cost: .fixed(Argon2id(memoryKiB: 16, passes: 2, lanes: 1)))
    change.withLock { $0 = { _ = try await better.signingKey(of: id) } }
    let before = fixture.tryCount
    let opened = try await slow.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    try await slow.requireCurrent(opened.openedSlot)
    #expect(fixture.tryCount - before == 2, "one each")

    let vault = vault
    change.withLock {
      $0 = {
        try await vault.changePassword(
          of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
      }
    }
    await #expect(throws: VaultFailure.wrongPassword(remaining: 2)) { try await slow.signingKey(of: id) }
    #expect(try await slow.signingKey(of: id, "new") == "signing key")
  }

  @Test("of many concurrent openers one upgrades the slot, and all results are current")
  func renewedAtOnce() async throws {
    let id = try await vault.addContainer(.sample(lock: Self.oneTry))
    let better = PasswordCost.fixed(Argon2id(memoryKiB: 16, passes: 2, lanes: 1))
    let vaults = try (0..<10).map { _ in try fixture.open(cost: better) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for vault in vaults {
        group.addTask {
          let opened = try await vault.open(
            "keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
          try await vault.requireCurrent(opened.openedSlot)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await attempts(id) == .allowed(remaining: 1))
  }

  @Test("wrong passwords during a slot upgrade stay counted")
  func wrongDuringRenewal() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 5)))
    let vault = vault
    let derivations = Mutex(0)
    let renewing = try fixture.open(
      cost: .fixed(Argon2id(memoryKiB: 16, passes: 2, lanes: 1)),
      onDerivation: {
        // The second derivation is that of the better slot, after the password was verified.
        let number = derivations.withLock { count in
          count += 1
          return count
        }
        guard number == 2 else { return }
        Self.block {
          for _ in 0..<3 {
            await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, "no") }
          }
        }
      })
    #expect(try await renewing.signingKey(of: id) == "signing key")
    #expect(try await attempts(id) == .allowed(remaining: 2))
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test(
    "a missing keystore or memory shortage costs no attempt")
  func notCompared() async throws {
    let id = try await vault.addContainer(.sample(lock: Self.oneTry))
    let path = fixture.folder.file("vault/software-keystore.key")
    let key = try Data(contentsOf: URL(filePath: path))
    try FileManager.default.removeItem(atPath: path)
    await #expect(throws: VaultFailure.keystore(.keyMissing(path: path))) {
      try await vault.signingKey(of: id)
    }
    try key.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try await attempts(id) == .allowed(remaining: 1))
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  /// Waits for a semaphore without blocking a thread of the shared pool.
  private static func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        semaphore.wait()
        continuation.resume()
      }
    }
  }

  /// Runs an asynchronous body on a vault's thread, which may block.
  private static func block(_ body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await body() } catch { Issue.record(error) }
      done.signal()
    }
    done.wait()
  }
}

@Suite("File locks", .timeLimit(.minutes(10)))
struct FolderLockTests {
  private let fixture: VaultFixture
  private var path: String { fixture.folder.file("lock") }

  init() throws { fixture = try VaultFixture() }

  @Test("a lock has one owner at a time, passes on at release, and no waiter starves")
  func exclusiveLock() throws {
    let first = try #require(try FolderLock(path, .exclusive(within: .zero)))
    #expect(try FolderLock(path, .exclusive(within: .milliseconds(20))) == nil)
    #expect(try FolderLock(path, .exclusive(within: .zero)) == nil)
    first.release()
    let second = try #require(try FolderLock(path, .exclusive(within: .seconds(60))))
    #expect(try FolderLock(path, .exclusive(within: .zero)) == nil)
    withExtendedLifetime(second) {}
  }

  @Test("a lock held by a killed process is free at once")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FolderLock(path, .exclusive(within: .zero))
      withExtendedLifetime(lock) { _ = kill(getpid(), lock == nil ? SIGTERM : SIGKILL) }
    }
    #expect(try FolderLock(path, .exclusive(within: .zero)) != nil)
  }

  @Test("a path where the lock cannot be created is named")
  func refused() throws {
    let missing = fixture.folder.file("none/lock")
    #expect(throws: VaultFailure.folderUnavailable(path: missing, errno: ENOENT)) {
      _ = try FolderLock(missing, .exclusive(within: .zero))
    }
    let target = fixture.folder.file("target")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    #expect(throws: VaultFailure.folderUnavailable(path: path, errno: ELOOP)) {
      _ = try FolderLock(path, .exclusive(within: .zero))
    }
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}
