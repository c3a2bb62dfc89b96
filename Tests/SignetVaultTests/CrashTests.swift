import Foundation
import SignetCrypto
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

/// Copies the folder of a vault as it is, as a crash would leave it, before each statement.
final class Photographer: Sendable {
  private let source: String
  private let target: String
  private let pictures = Recorder<String>()

  init(of source: String, into target: String) {
    self.source = source
    self.target = target
  }

  var folders: [String] { pictures.entries }

  func take() {
    let picture = "\(target)-\(pictures.entries.count)"
    // By another process: closing a copy here would release the locks that this one holds.
    let copy = Process()
    copy.executableURL = URL(fileURLWithPath: "/bin/cp")
    copy.arguments = ["-rp", source, picture]
    do { try copy.run() } catch { Issue.record(error) }
    copy.waitUntilExit()
    pictures.record(picture)
  }
}

@Suite("Crashes between any two statements leave the state before or after")
struct CrashTests {
  private let fixture: VaultFixture

  init() throws { fixture = try VaultFixture() }

  /// Everything that a vault has: identities, states and secrets of its containers.
  private static func state(of vault: Vault) async throws -> [String] {
    var state: [String] = []
    for container in try await vault.containers(matching: .init(state: nil)) {
      let session = try await vault.sessionKey(of: container.id)
      let signing = try await vault.signingKey(of: container.id)
      let domain = try await vault.open("session", of: container.id, with: .device)
      #expect(domain.recordNames == ["counter", "key"])
      state.append("\(container.attributes.name) \(container.state) \(session) \(signing)")
    }
    let raw = try await vault.containers(matching: .init(state: nil)).count
    #expect(state.count == raw)
    return state
  }

  /// Runs a change, and checks the state that a crash before each of its statements leaves.
  private func photograph(
    prepare: (Vault) async throws -> Void = { _ in }, statements: Int,
    _ change: (Vault) async throws -> Void
  ) async throws {
    try await prepare(try fixture.open())
    let old = try await Self.state(of: try fixture.open())
    let photographer = Photographer(of: fixture.directory, into: fixture.folder.file("crash"))
    let isRecording = Recorder<Bool>()
    let vault = try fixture.open { (_) throws(SQLiteFailure) in
      if !isRecording.entries.isEmpty { photographer.take() }
    }
    isRecording.record(true)
    try await change(vault)
    photographer.take()
    let new = try await Self.state(of: try fixture.open())
    #expect(old != new)
    #expect(photographer.folders.count >= statements)

    var states: [[String]] = []
    for folder in photographer.folders {
      states.append(try await Self.state(of: try VaultFixture.open(folder)))
    }
    #expect(states.first == old)
    #expect(states.last == new)
    #expect(states.allSatisfy { $0 == old || $0 == new })
    // Once new, never old again.
    #expect(states.drop { $0 == old }.allSatisfy { $0 == new })
  }

  @Test("adding a container")
  func add() async throws {
    try await photograph(statements: 9) { _ = try await $0.addContainer(.sample()) }
  }

  @Test("confirming one that replaces another")
  func confirm() async throws {
    let added = Recorder<ContainerID>()
    try await photograph(
      prepare: { vault in
        let old = try await vault.addContainer(.sample(.sample(name: "Old")))
        try await vault.confirmContainer(old)
        added.record(try await vault.addContainer(.sample(.sample(name: "New"), created: 2_000)))
      }, statements: 6
    ) { vault in try await vault.confirmContainer(try #require(added.entries.first)) }
  }

  @Test("discarding and deleting", arguments: [true, false])
  func delete(isConfirmed: Bool) async throws {
    let added = Recorder<ContainerID>()
    try await photograph(
      prepare: { vault in
        let id = try await vault.addContainer(.sample())
        if isConfirmed { try await vault.confirmContainer(id) }
        added.record(id)
      }, statements: 2
    ) { vault in
      let id = try #require(added.entries.first)
      if isConfirmed { try await vault.deleteContainer(id) } else { try await vault.discardContainer(id) }
    }
  }

  @Test("a failure of any one statement changes nothing, and the vault goes on", arguments: [true, false])
  func injectedFailures(whileConfirming: Bool) async throws {
    let preparing = try fixture.open()
    let old = try await preparing.addContainer(.sample(.sample(name: "Old")))
    try await preparing.confirmContainer(old)
    var failures = 0
    for number in 0..<100 {
      let id = try await preparing.addContainer(.sample(.sample(name: "New"), created: 2_000))
      let before = try await Self.state(of: preparing)
      let statements = Recorder<Bool>()
      let isArmed = Recorder<Bool>()
      let vault = try fixture.open { (sql) throws(SQLiteFailure) in
        guard !isArmed.entries.isEmpty, !sql.hasPrefix("ROLLBACK"), !sql.hasPrefix("PRAGMA wal") else {
          return
        }
        statements.record(true)
        if statements.entries.count == number + 1 { throw .diskFull(extendedCode: 13) }
      }
      isArmed.record(true)
      do throws(VaultFailure) {
        if whileConfirming {
          try await vault.confirmContainer(id)
        } else {
          _ = try await vault.addContainer(.sample(.sample(user: "bob", name: "Third")))
        }
        break
      } catch {
        #expect(error == .diskFull)
        failures += 1
        #expect(try await Self.state(of: preparing) == before)
      }
      try await preparing.discardContainer(id)
    }
    #expect(failures > 15, "begin, each statement, commit")
  }

  @Test("a process that is killed before a statement", arguments: [1, 2, 5, 8, 9])
  func killed(beforeStatement number: Int) async throws {
    let vault = try fixture.open()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = fixture.directory as String, number = number as Int] in
      let statements = Recorder<Bool>()
      let isArmed = Recorder<Bool>()
      let vault = try VaultFixture.open(directory) { (_) throws(SQLiteFailure) in
        guard !isArmed.entries.isEmpty else { return }
        statements.record(true)
        if statements.entries.count == number { kill(getpid(), SIGKILL) }
      }
      isArmed.record(true)
      _ = try await vault.addContainer(.sample())
    }
    #expect(try await vault.containers(matching: .init(state: nil)).isEmpty)
    let id = try await vault.addContainer(.sample())
    #expect(try await vault.signingKey(of: id) == "signing key")
  }
}
