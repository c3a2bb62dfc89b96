#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetPolicy
  import SignetTPM
  import SignetTestKit
  import SignetTesting
  import SignetVault
  import Synchronization
  import Testing

  @Suite("A vault on a TPM", .timeLimit(.minutes(10)), .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct VaultOnTPMTests {
    private let fixture: TPMFixture
    private let folder: TemporaryFolder

    init() throws {
      fixture = try TPMFixture()
      folder = try TemporaryFolder()
    }

    private func open(
      _ keystore: TPMKeystore? = nil, _ name: String = "vault",
      onDerivation: @escaping @Sendable () -> Void = {}
    ) throws -> Vault {
      try Vault.forTests(folder.file(name), keystore: keystore ?? fixture.keystore) { settings in
        settings.derivation = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
          onDerivation()
          return try PasswordDerivation.argon2id.derive(password, salt, cost)
        }
      }
    }

    private func addContainer(
      _ vault: Vault, limit: Int = 3, record: SharedSecretBox = SharedSecretBox(SecretBytes("signing key"))
    ) async throws -> LocalContainerID {
      let id = try await vault.addContainer(
        ContainerDraft(
          attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
          created: 0,
          domains: [
            DomainDraft(
              name: "user", protection: .password(SharedSecretBox(SecretBytes("1234")), .lock(limit: limit)),
              records: [RecordDraft(name: "key", secret: record)])
          ]))
      try await vault.confirmContainer(id)
      return id
    }

    private func key(_ vault: Vault, _ id: LocalContainerID, _ password: String) async throws -> String {
      try await vault.open("user", of: id, with: .password(SecretBytes(password))).withRecord("key") {
        bytes in
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
    }

    /// Copies the vault's current files, to be restored later.
    private func copy(_ name: String, to copy: String) throws {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: folder.file(copy))
    }

    @Test("opens with the right password, and locks after the limit for good")
    func locks() async throws {
      let vault = try open()
      #expect(vault.keystoreKind == .tpm2)
      #expect(try await vault.keystoreStatus().isSimulator)
      let id = try await addContainer(vault)
      #expect(try await key(vault, id, "1234") == "signing key")
      for remaining in [2, 1, 0] {
        await #expect(throws: VaultFailure.wrongPassword(remaining: remaining)) {
          try await key(vault, id, "0000")
        }
      }
      await #expect(throws: VaultFailure.lockedOut) { try await key(vault, id, "1234") }
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("the TPM counts an attempt, then compares it, after the key derivation")
    func counting() async throws {
      let id = try await addContainer(try open())
      let script = DisturbedLink.Script()
      let limits = TPMTimeLimits(
        access: .seconds(120), answer: .seconds(120), idle: .seconds(600), stretch: .seconds(600))
      let before = Mutex<Int?>(nil)
      let vault = try open(
        TPMKeystore.disturbed(fixture.tpm.address, limits: limits, script),
        onDerivation: {
          let count = script.sentCommands.withLock(\.count)
          before.withLock { $0 = count }
        })
      #expect(try await key(vault, id, "1234") == "signing key")
      for password in ["1234", "0000"] {
        let opened = script.sentCommands.withLock(\.count)
        do { _ = try await key(vault, id, password) } catch VaultFailure.wrongPassword {}
        let codes = script.sentCommands.withLock { $0.map(CommandCode.of) }
        let derived = before.withLock(\.self)
        #expect(derived == opened, "nothing is asked before")
        let asked = codes.dropFirst(opened).prefix(5)
        #expect(
          asked == [
            CommandCode.nvRead, CommandCode.nvRead, CommandCode.nvIncrement, CommandCode.load,
            CommandCode.policySecret,
          ], "\(asked)")
      }
    }

    @Test("concurrent correct passwords all open under a limit of one")
    func rightOnesAtOnce() async throws {
      let id = try await addContainer(try open(), limit: 1)
      let vaults = try (0..<3).map { _ in try open(TPMFixture.keystore(in: fixture.tpm)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<9 {
          group.addTask {
            _ = try await vaults[number % 3].open("user", of: id, with: .password(SecretBytes("1234")))
          }
        }
        try await group.waitForAll()
      }
    }

    @Test("a signing key made in the TPM signs only for its opened domain")
    func signingKey() async throws {
      let vault = try open()
      let made = try await vault.makeSigningKey()
      #expect(made.origin == .tpm2)
      let id = try await addContainer(vault, record: made.record)
      fixture.tpm.stop()
      try fixture.tpm.start()
      let key = try await vault.open("user", of: id, with: .password(SecretBytes("1234"))).withRecord("key") {
        try ContainerSigningKey(record: SecretBytes(copying: $0), in: vault)
      }
      #expect(key.origin == .tpm2 && key.publicKey == made.publicKey)
      let message = Array("pay 1".utf8)
      let signature = try await key.signature(of: message)
      #expect(key.publicKey.isValidSignature(signature, for: message))

      // Without the value that is next to it under the domain's key, the blob signs nothing.
      var record = made.record.withSecret { $0.insecureCopy() }
      let (value, blob) = (Array(record[1..<33]), Array(record[98...]))
      record[7] ^= 1
      let guessed = try ContainerSigningKey(record: SecretBytes(copying: record), in: vault)
      await #expect(throws: VaultFailure.keystore(.refused)) {
        try await guessed.signature(of: message)
      }
      // Neither of them is in the files.
      var files: [UInt8] = []
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.file("vault")) {
        files += try Data(contentsOf: URL(filePath: folder.file("vault/\(name)")))
      }
      let isThere = { (bytes: ArraySlice<UInt8>) in Data(files).range(of: Data(bytes)) != nil }
      #expect(isThere(ArraySlice("alice".utf8)), "the control: what is not secret is there")
      #expect(!isThere(value[..<16]) && !isThere(blob[..<16]) && !isThere(blob.suffix(16)))
      // A vault with another keystore rejects it.
      let software = try Vault.forTests(folder.file("software"))
      let foreign = try made.record.withSecret { (record) throws(CryptoFailure) in
        try ContainerSigningKey(record: record, in: software)
      }
      await #expect(throws: VaultFailure.otherKeystore(found: .tpm2, expected: .software)) {
        try await foreign.signature(of: message)
      }
    }

    @Test("a copy of the folder opens nothing on another machine")
    func otherMachine() async throws {
      let vault = try open()
      _ = try await addContainer(vault)
      let other = try TPMFixture()
      try copy("vault", to: "copy")
      #expect(throws: VaultFailure.keystore(.replaced)) { _ = try open(other.keystore, "copy") }
      #expect(throws: VaultFailure.otherKeystore(found: .tpm2, expected: .software)) {
        _ = try Vault.forTests(folder.file("copy"), keystore: SoftwareKeystore(directory: folder.path))
      }
    }

    @Test("an older copy of the folder is noticed, and gives no further guess")
    func olderCopy() async throws {
      let vault = try open()
      let id = try await addContainer(vault)
      try copy("vault", to: "older")
      for _ in 0..<2 {
        await #expect(throws: VaultFailure.self) { try await key(vault, id, "0000") }
      }
      #expect {
        _ = try open(nil, "older")
      } throws: { error in
        if case .rolledBack = error as? VaultFailure { true } else { false }
      }
      await #expect(throws: VaultFailure.wrongPassword(remaining: 0)) { try await key(vault, id, "0000") }
      await #expect(throws: VaultFailure.lockedOut) { try await key(vault, id, "1234") }
    }

    @Test("a cleared TPM is a loss; a disabled one is not")
    func lost() async throws {
      let vault = try open()
      let id = try await addContainer(vault)
      fixture.tpm.stop()
      let missing = KeystoreFailure.missing(address: fixture.tpm.address)
      await #expect(throws: VaultFailure.keystore(missing)) { try await key(vault, id, "1234") }
      await #expect(throws: VaultFailure.keystore(missing)) { try await vault.lostSlots() }
      try fixture.tpm.start()
      #expect(try await vault.lostSlots().isEmpty)
      #expect(try await key(vault, id, "1234") == "signing key")
      #expect(try TPMFixture.send(TPMFixture.clear, to: fixture.tpm.address) == 0)
      let lost = try await vault.lostSlots()
      #expect(lost.map(\.failure) == [.replaced])
      #expect(throws: VaultFailure.keystore(.replaced)) { _ = try open() }
    }

    @Test("a deleted container releases its NV index")
    func deleted() async throws {
      let vault = try open()
      let before = try fixture.keystore.status().reservedLocationCount
      let id = try await addContainer(vault)
      #expect(try fixture.keystore.status().reservedLocationCount == before + 1)
      try await vault.deleteContainer(id)
      #expect(try fixture.keystore.status().reservedLocationCount == before)
    }
  }
#endif
