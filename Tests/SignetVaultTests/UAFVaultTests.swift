import Foundation
import SignetCrypto
import SignetPolicy
import SignetTesting
import SignetVault
import Testing

@Suite("UAF domains of a container", .timeLimit(.minutes(10)))
struct UAFVaultTests {
  private let fixture: VaultFixture

  init() throws { fixture = try VaultFixture() }

  private static let records = [RecordDraft(name: "token", secret: SharedSecretBox("token"))]

  private static func draft(
    _ name: String, _ protection: DomainDraft.Protection = .password(SharedSecretBox("1234"), .fiveAttempts)
  ) -> DomainDraft {
    DomainDraft(
      name: name, protection: protection,
      records: [RecordDraft(name: "key", secret: SharedSecretBox("of \(name)"))])
  }

  private static func open(_ vault: Vault) async throws -> UnlockedDomain {
    let id = try await vault.makeUAFContainer(records: records, created: 1_000)
    return try await vault.open(Vault.uafDomain, of: id, with: .device)
  }

  /// Adds a domain, and a record that names it.
  private static func add(_ draft: DomainDraft, to vault: Vault) async throws {
    let unlocked = try await open(vault)
    try await vault.changeDomains(beside: unlocked, adding: [draft]) { (records, _) throws(VaultFailure) in
      try records.set("of-\(draft.name)", to: SecretBytes("known"))
    }
  }

  /// The known domains and the ones that exist and open, which have to be equal.
  private static func state(_ vault: Vault) async throws -> [String] {
    guard let id = try await vault.uafContainer() else { return [] }
    let known = try await open(vault).recordNames.filter { $0 != "token" }.map { String($0.dropFirst(3)) }
    let present = try await vault.domains(of: id).map(\.name).filter { $0 != Vault.uafDomain }
    #expect(Set(known) == Set(present))
    for name in known {
      let secret = try await vault.open(name, of: id, with: .password(SecretBytes("1234"))).withRecord("key")
      {
        bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
      #expect(secret == "of \(name)")
    }
    return known
  }

  @Test("concurrent creators get one container")
  func one() async throws {
    let vault = try fixture.open()
    #expect(try await vault.uafContainer() == nil)
    let first = try await vault.makeUAFContainer(records: Self.records, created: 1)
    let again = try await fixture.open().makeUAFContainer(records: [], created: 2)
    #expect(first == again)
    #expect(try await Self.open(vault).recordNames == ["token"])
    #expect(try await vault.accountsContainer() == nil)
    #expect(try await vault.containers().isEmpty)
    let accounts = try await vault.makeAccountsContainer(protection: .device, created: 3)
    #expect(accounts != first)
    let uaf = try await vault.uafContainer()
    #expect(uaf == first)
  }

  @Test("concurrent correct PINs all open without a wait; a killed derivation costs no attempt")
  func rightOnesAtOnce() async throws {
    let vault = try fixture.open()
    try await Self.add(Self.draft("one"), to: vault)
    let id = try #require(try await vault.uafContainer())
    for _ in 0..<6 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [directory = fixture.directory as String] in
        let vault = try VaultFixture.open(directory, onDerivation: { kill(getpid(), SIGKILL) })
        let id = try #require(try await vault.uafContainer())
        _ = try await vault.open("one", of: id, with: .password(SecretBytes("1234")))
      }
    }
    let vaults = try (0..<5).map { _ in try fixture.open() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          _ = try await vaults[number % 5].open("one", of: id, with: .password(SecretBytes("1234")))
        }
      }
      try await group.waitForAll()
    }
    let domain = try await vault.domains(of: id).first { $0.name == "one" }
    #expect(domain?.attempts == .allowed(remaining: 5))
  }

  @Test("confirming a container of a server leaves it alone")
  func confirming() async throws {
    let vault = try fixture.open()
    try await Self.add(Self.draft("one"), to: vault)
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: 0,
      domains: [DomainDraft(name: "d", protection: .device, records: [])])
    try await vault.confirmContainer(try await vault.addContainer(draft))
    #expect(try await Self.state(vault) == ["one"])
  }

  @Test("a crash between any two statements leaves the old or the new keys")
  func crashes() async throws {
    let vault = try fixture.open()
    try await Self.add(Self.draft("old"), to: vault)
    let pictures = try await fixture.pictures { vault in
      let unlocked = try await Self.open(vault)
      try await vault.changeDomains(beside: unlocked, adding: [Self.draft("new")]) {
        (records, removed) throws(VaultFailure) in
        try records.set("of-new", to: SecretBytes("known"))
        records.remove("of-old")
        removed.insert("old")
      }
    }
    var states: [[String]] = []
    for folder in pictures { states.append(try await Self.state(try VaultFixture.open(folder))) }
    #expect(states.first == ["old"] && states.last == ["new"])
    #expect(states.allSatisfy { $0 == ["old"] || $0 == ["new"] })
    #expect(states.drop { $0 == ["old"] }.allSatisfy { $0 == ["new"] })
  }

  @Test("a failed change changes nothing and releases hardware indices")
  func failures() async throws {
    let hardware = SimulatedHardware()
    let vault = try fixture.open(keystore: hardware)
    try await Self.add(Self.draft("old"), to: vault)
    let locations = hardware.locationCount
    let unlocked = try await Self.open(vault)
    await #expect(throws: VaultFailure.noSuchRecord(name: "x")) {
      try await vault.changeDomains(beside: unlocked, adding: [Self.draft("new")]) {
        (records, removed) throws(VaultFailure) in
        try records.set("of-new", to: SecretBytes("known"))
        removed.insert("old")
        throw .noSuchRecord(name: "x")
      }
    }
    #expect(try await Self.state(vault) == ["old"] && hardware.locationCount == locations)
    await #expect(throws: VaultFailure.duplicateName("old")) {
      try await Self.add(Self.draft("old"), to: vault)
    }
    await #expect(throws: VaultFailure.duplicateName(Vault.uafDomain)) {
      try await Self.add(Self.draft(Vault.uafDomain), to: vault)
    }
    await #expect(throws: VaultFailure.invalidName) { try await Self.add(Self.draft("a b"), to: vault) }
    #expect(hardware.locationCount == locations)
    try await vault.changeDomains(beside: unlocked) { (records, removed) throws(VaultFailure) in
      records.remove("of-old")
      removed.formUnion(["old", "of nobody", Vault.uafDomain])
    }
    #expect(try await Self.state(vault).isEmpty && hardware.locationCount == locations - 1)
  }

  @Test("each change advances the hardware counter, so that an older copy is refused")
  func counted() async throws {
    let hardware = SimulatedHardware()
    let vault = try fixture.open(keystore: hardware)
    let unlocked = try await Self.open(vault)
    hardware.fail(.counting, with: .countGone)
    await #expect(throws: VaultFailure.keystore(.countGone)) {
      try await vault.changeDomains(beside: unlocked) { (records, _) throws(VaultFailure) in
        try records.set("of-x", to: SecretBytes("known"))
      }
    }
    #expect(try await Self.open(vault).recordNames == ["token"])
  }

  @Test("a biometric domain is bound to the enrolled set or to none, with or without passcode")
  func biometrics() async throws {
    let vault = try fixture.open()
    let gate = SimulatedBiometrics()
    let set = EnrolledSet.simulated(fingers: 1)
    try await Self.add(Self.draft("bound", .biometrics(set, orPasscode: false)), to: vault)
    try await Self.add(Self.draft("any", .biometrics(nil, orPasscode: true)), to: vault)
    try await Self.add(Self.draft("code", .devicePasscode), to: vault)
    let id = try #require(try await vault.uafContainer())
    func open(_ name: String) async throws(VaultFailure) {
      _ = try await vault.openWithBiometrics(name, of: id, with: gate, reason: "test")
    }
    try await open("bound")
    try await open("any")
    gate.set(.ready(.simulated(fingers: 2)))
    await #expect(throws: VaultFailure.biometricsInvalidated) { try await open("bound") }
    try await open("any")
    #expect(try await vault.biometricAuthentication(of: "any", in: id, with: gate) == .enabled)
    #expect(try await vault.biometricAuthentication(of: "bound", in: id, with: gate) == .invalidated)
    await #expect(throws: VaultFailure.noSuchSlot(domain: "code", .biometric)) { try await open("code") }
    for (name, isOpened) in [("bound", false), ("any", true), ("code", true)] {
      let failure: VaultFailure?
      do throws(VaultFailure) {
        _ = try await vault.openWithPasscode(
          name, of: id, with: SimulatedPasscode("x"), reason: "test",
          conversation: ScriptedPasscodeConversation("x"))
        failure = nil
      } catch { failure = error }
      #expect((failure == nil) == isOpened, "\(name)")
    }
    for _ in 0..<Vault.biometricLimit {
      gate.queue(.failure(.mismatch))
      await #expect(throws: VaultFailure.biometric(.mismatch)) { try await open("any") }
    }
    #expect(
      try await vault.domains(of: id).first { $0.name == "any" && $0.slot == .biometric }?.status
        == .lockedOut)
    await #expect(throws: VaultFailure.biometric(.lockedOut)) { try await open("any") }
  }

  @Test("an open domain's protection cannot be changed to biometrics or passcode alone")
  func setProtection() async throws {
    let vault = try fixture.open()
    let unlocked = try await Self.open(vault)
    for protection in [DomainDraft.Protection.devicePasscode, .biometrics(nil, orPasscode: false)] {
      let failure: VaultFailure?
      do throws(VaultFailure) {
        try await vault.setProtection(protection, of: unlocked)
        failure = nil
      } catch { failure = error }
      guard case .invalidDraft? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
    }
  }
}
