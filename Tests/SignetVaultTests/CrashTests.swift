import Foundation
import SignetCrypto
import SignetSQLite
import SignetVault
import Testing

@Suite("Crashes between any two statements", .timeLimit(.minutes(10)))
struct CrashTests {
  private let fixture: VaultFixture

  init() throws { fixture = try VaultFixture() }

  /// The whole content of a vault: identities, states and secrets of its containers.
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
    let pictures = try await fixture.pictures(of: change)
    let new = try await Self.state(of: try fixture.open())
    #expect(old != new)
    #expect(pictures.count >= statements)

    var states: [[String]] = []
    for folder in pictures {
      states.append(try await Self.state(of: try VaultFixture.open(folder)))
    }
    #expect(states.first == old)
    #expect(states.last == new)
    #expect(states.allSatisfy { $0 == old || $0 == new })
    // A new state never reverts to the old one.
    #expect(states.drop { $0 == old }.allSatisfy { $0 == new })
  }

  @Test("adding a container")
  func add() async throws {
    try await photograph(statements: 9) { _ = try await $0.addContainer(.sample()) }
  }

  @Test("confirming one that replaces another")
  func confirm() async throws {
    let added = Recorder<LocalContainerID>()
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
    let added = Recorder<LocalContainerID>()
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

  @Test("a failure of any statement changes nothing, and the vault stays usable", arguments: [true, false])
  func injectedFailures(whileConfirming: Bool) async throws {
    let preparing = try fixture.open()
    let old = try await preparing.addContainer(.sample(.sample(name: "Old")))
    try await preparing.confirmContainer(old)
    func stage() async throws -> LocalContainerID {
      try await preparing.addContainer(.sample(.sample(name: "New"), created: 2_000))
    }
    var id = try await stage()
    var before = try await Self.state(of: preparing)
    let failures = try await fixture.failingEachStatement { vault throws(VaultFailure) in
      if whileConfirming {
        try await vault.confirmContainer(id)
      } else {
        _ = try await vault.addContainer(.sample(.sample(user: "bob", name: "Third")))
      }
    } check: { _ in
      #expect(try await Self.state(of: preparing) == before)
      try await preparing.discardContainer(id)
      id = try await stage()
      before = try await Self.state(of: preparing)
    }
    #expect(failures > 15, "begin, each statement, commit")
  }

  @Test("a process that is killed before a statement", arguments: [1, 2, 5, 8, 9])
  func killed(beforeStatement number: Int) async throws {
    let vault = try fixture.open()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = fixture.directory as String, number = number as Int] in
      let vault = try VaultFixture.openDying(directory, beforeStatement: number)
      _ = try await vault.addContainer(.sample())
    }
    #expect(try await vault.containers(matching: .init(state: nil)).isEmpty)
    let id = try await vault.addContainer(.sample())
    #expect(try await vault.signingKey(of: id) == "signing key")
  }
}
