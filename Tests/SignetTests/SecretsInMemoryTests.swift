#if os(Linux)
  import Foundation
  import Signet
  import SignetCrypto
  import SignetPolicy
  import SignetProtocol
  import SignetServerTesting
  import SignetTestKit
  import Synchronization
  import Testing

  import SignetVault

  /// Searches the memory of a process that has just locked.
  ///
  /// The process is a child of the test: it starts clean, and did not make the container.
  @Suite(.timeLimit(.minutes(10))) struct SecretsInMemoryTests {
    /// The derivation is that of installed programs, with all of its memory.
    fileprivate static let settings = Vault.Settings(cost: .fixed(.minimum))

    @Test(
      "the search finds copies in heap and stacks, also across its read boundaries")
    func search() async throws {
      await #expect(processExitsWith: .success) {
        let search = try MemorySearch()
        let password = MaskedPassword.ascii.box
        password.withSecret { search.add("password", $0) }
        func expect(copies: Int) throws {
          #expect(try search.found() == ["password, begin": copies, "password, end": copies])
        }
        func copy(to place: UnsafeMutableRawBufferPointer) {
          // The address escapes this program; otherwise an optimizer may omit copies that are never read.
          wipe(place)
          password.withSecret { secret in
            secret.withUInt8Span { bytes in for index in bytes.indices { place[index] = bytes[index] } }
          }
        }
        try expect(copies: 1)
        var array = password.withSecret { $0.insecureCopy() }
        try expect(copies: 2)
        array.wipe()
        try expect(copies: 1)
        try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { stack in
          copy(to: stack)
          try expect(copies: 2)
          wipe(stack)
        }
        let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 20, alignment: 16)
        defer { pages.deallocate() }
        for start in [1 << 20, 2 << 20, 3 << 20].flatMap({ [$0 - 32, $0 - 20, $0 - 1] }) {
          copy(to: UnsafeMutableRawBufferPointer(rebasing: pages[start...]))
          try expect(copies: 2)
          wipe(pages)
        }
        try expect(copies: 1)
      }
    }

    @Test("after a lock neither the password nor a key is in memory", arguments: MaskedPassword.allCases)
    func afterLock(password: MaskedPassword) async throws {
      let folder = try await Self.activated(password)
      await #expect(processExitsWith: .success) {
        [path = folder.path as String, name = password.rawValue as String] in
        let bench = try LockBench(path, try #require(MaskedPassword(rawValue: name)))
        try await bench.unlockAndUse()
        // The control: all secrets are found while they are in use.
        let before = try bench.search.found()
        for secret in ["password", "group key", "text key", "master key"] {
          #expect(before.keys.contains { $0.hasPrefix(secret) }, "\(secret) is not found while it is there")
        }
        bench.lock()
        #expect(try bench.search.found() == [:])
      }
      withExtendedLifetime(folder) {}
    }

    @Test("the search finds a password's characters spread over normalization records")
    func characters() async throws {
      await #expect(processExitsWith: .success) {
        let search = try MemorySearch()
        MaskedPassword.composed.prepared.withSecret { search.add(charactersOf: "password", $0) }
        #expect(try search.found() == [:])
        let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { pages.deallocate() }
        wipe(pages)
        // The bytes in between do not matter.
        for index in pages.indices { pages[index] = 0xEE }
        MaskedPassword.composed.prepared.withSecret { secret in
          secret.withUInt8Span { bytes in
            for index in 0..<32 {
              pages.storeBytes(of: UInt32(bytes[index]), toByteOffset: 8 * index, as: UInt32.self)
            }
          }
        }
        #expect(try search.found()["password, begin"] == 1)
        wipe(pages)
        #expect(try search.found() == [:])
      }
    }

    @Test("preparing a password leaves no copy", arguments: MaskedPassword.allCases)
    func afterPreparation(password: MaskedPassword) async throws {
      await #expect(processExitsWith: .success) { [name = password.rawValue as String] in
        let search = try MemorySearch()
        let password = try #require(MaskedPassword(rawValue: name))
        var box: SharedSecretBox? = password.box
        search.add(password)
        var prepared = try box?.withSecret { try preparedPassword($0) }
        let found = try search.found()
        #expect(found["password, begin"] == 2 && found["prepared, end"] == (password == .composed ? 1 : 2))
        (box, prepared) = (nil, nil)
        _ = prepared
        #expect(try search.found() == [:])
      }
    }

    @Test("after an activation the password is not in memory", arguments: MaskedPassword.allCases)
    func afterActivation(password: MaskedPassword) async throws {
      await #expect(processExitsWith: .success) { [name = password.rawValue as String] in
        let password = try #require(MaskedPassword(rawValue: name))
        let search = try MemorySearch()
        search.add(password)
        let code = try ActivationCode.made()
        let rules = try PasswordPolicy(minimumLength: 4, maximumLength: 64)
        let fixture = try DeviceFixture(
          HostileServer(code, protection: .password(rules, .lock(limit: 100)), derivation: .argon2id),
          settings: Self.settings)
        let handler = ChoosingHandler(password, search)
        _ = try await fixture.device.createContainer(ContainerInitialization(code: code), handler: handler)
        // The control: the password is found while it is in use.
        #expect(handler.copiesWhileUsed > 0)
        #expect(try search.found() == [:])
      }
    }

    @Test("after a signature neither the password nor a key is in memory")
    func afterSignature() async throws {
      let folder = try await Self.activated(.ascii)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let bench = try LockBench(path, .ascii)
        try await bench.sign()
        bench.lock()
        #expect(try bench.search.found() == [:])
      }
      withExtendedLifetime(folder) {}
    }

    @Test("after a wrong password it is not in memory")
    func afterWrongPassword() async throws {
      let folder = try await Self.activated(.ascii)
      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let bench = try LockBench(path, .other)
        await #expect(throws: SignetError.self) { try await bench.unlockAndUse() }
        bench.lock()
        #expect(try bench.search.found() == [:])
      }
      withExtendedLifetime(folder) {}
    }

    private static func activated(_ password: MaskedPassword) async throws -> TemporaryFolder {
      let server = try await InvitingServer(
        .password(
          PasswordPolicy(
            minimumLength: 4, maximumLength: 64, cache: PasswordCache(isEnabled: true, timeout: 3600)),
          .lock(limit: 100)), derivation: .argon2id)
      let fixture = try DeviceFixture(server.transport, settings: settings)
      let text = password.box.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
      _ = try await fixture.activate(server.invite(), password: text)
      return fixture.folder
    }
  }

  /// Passwords that the program does not contain in plain form.
  enum MaskedPassword: String, CaseIterable, Sendable {
    case ascii
    /// A second password.
    case other
    /// With letters of Western Europe.
    case accented
    /// With letters and marks that must be composed.
    case composed

    /// The bytes after 32 characters of ASCII, as typed.
    private var ending: [UInt8] {
      switch self {
      case .ascii, .other: []
      // \u{E9} twice: two bytes of UTF-8 that Form C keeps.
      case .accented: [0xC3, 0xA9, 0xC3, 0xA9]
      // e and U+0301: three bytes that become two.
      case .composed: [0x65, 0xCC, 0x81]
      }
    }

    /// The password as typed, assembled in secret memory.
    var box: SharedSecretBox { box(ending) }

    /// The password as prepared for key derivation.
    var prepared: SharedSecretBox { box(self == .composed ? [0xC3, 0xA9] : ending) }

    /// The same in every process and unknown to the compiler, since a function of another library makes it.
    private func box(_ ending: [UInt8]) -> SharedSecretBox {
      DeadStack.wiped {
        let digest = HashFunction.sha256.digest(of: Array(rawValue.utf8))
        return SharedSecretBox(
          SecretBytes(byteCount: digest.count + ending.count) { output in
            for byte in digest { output.append(0x21 + byte % 90) }
            for byte in ending { output.append(byte) }
          })
      }
    }
  }

  extension MemorySearch {
    /// Adds a password in three forms: as typed, as prepared for key derivation, and in between.
    fileprivate func add(_ password: MaskedPassword) {
      password.box.withSecret { add("password", $0) }
      password.prepared.withSecret { prepared in
        add("prepared", prepared)
        add(charactersOf: "characters", prepared)
      }
    }
  }

  /// A handler that makes its password on demand, and searches for it before the container is stored.
  private final class ChoosingHandler: ActivationHandler, @unchecked Sendable {
    // Unchecked: it serves one activation, whose steps run in order.

    private let password: MaskedPassword
    private let search: MemorySearch
    private(set) var copiesWhileUsed = 0

    init(_ password: MaskedPassword, _ search: MemorySearch) {
      (self.password, self.search) = (password, search)
    }

    func password(for request: PasswordRequest) async -> PasswordReply { .proceed(password.box) }

    func progressed(to progress: ActivationProgress) async {
      guard progress.fraction == 0.3 else { return }
      do { copiesWhileUsed = try search.found()["password, begin", default: 0] } catch { Issue.record(error) }
    }
  }

  /// A device in the child process, and the search terms.
  private final class LockBench: Sendable {
    let device: Device
    let vault: Vault
    nonisolated(unsafe) let search: MemorySearch
    private let state: Mutex<State>

    private struct State {
      var password: SharedSecretBox?
      var session: Session?
      var key: AppDataKey?
    }

    init(_ folder: String, _ password: MaskedPassword) throws {
      let search = try MemorySearch()
      self.search = search
      state = Mutex(State(password: password.box))
      search.add(password)
      let found = Found(search)
      var settings = SecretsInMemoryTests.settings
      settings.createIfMissing = false
      settings.derivation = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
        let derived = try PasswordDerivation.argon2id.derive(password, salt, cost)
        found.search.add("derived key", derived)
        return derived
      }
      let path = folder + "/device"
      vault = try Vault(directory: path, keystore: SoftwareKeystore(directory: path), settings: settings)
      device = Device(vault: vault) { _ throws(TransportFailure) in AcceptingServer() }
    }

    /// Lets the derivation, which runs on the vault's thread, add its results to the search.
    private struct Found: @unchecked Sendable {
      let search: MemorySearch
      init(_ search: MemorySearch) { self.search = search }
    }

    private var password: SharedSecretBox? { state.withLock { $0.password } }
    private var authentication: Authentication? { password.map { .password($0) } }

    /// Unlocks a session and the password cache, writes app data, and leaves all of it open.
    func unlockAndUse() async throws {
      let container = try #require(try await device.containers().first)
      let session = Session(for: container, on: device)
      try await session.unlock(by: authentication)
      try await device.verify(authentication, for: container)
      try await noteSecrets(of: container)
      let sealed = try await session.encrypt([UInt8](repeating: 7, count: 100_000), label: "notes")
      #expect(try await session.decrypt(sealed, label: "notes").count == 100_000)
      let key = try await session.newTextKey(label: "notes")
      key.noteSecret(in: search)
      state.withLock { state in
        state.session = session
        state.key = key
      }
    }

    /// Signs with a password, and with a cached one.
    func sign() async throws {
      let container = try #require(try await device.containers().first)
      try await noteSecrets(of: container)
      let transaction = try TransactionRequest(
        id: TransactionID("t1"), text: "Pay", created: 0, expires: .max)
      try await device.decide(transaction, .accepted, with: container, by: authentication)
      try await device.verify(authentication, for: container)
      try await device.decide(transaction, .accepted, with: container)
    }

    /// Locks everything and releases the password.
    func lock() {
      device.clearPasswordCache()
      state.withLock { state in
        state.session?.lock()
        state.password = nil
      }
    }

    private func noteSecrets(of container: Container) async throws {
      let typed = try #require(password).withSecret { $0.copy() }
      let unlocked = try await vault.open("user", of: container.id, with: .password(typed))
      search.add("master key", unlocked.masterKey)
      for name in ["signing-key", "otp-secret"] {
        try unlocked.withRecord(name) { search.add(name, SecretBytes(copying: $0)) }
      }
      let root = try await vault.randomRecord("app-data-key", byteCount: 32, in: unlocked)
      search.add("app data root", root)
      var info = CanonicalBytes("signet app data group v1")
      info.append("default")
      search.add(
        "group key", HKDF.derive(inputKey: root, salt: [], info: info.bytes, byteCount: 32, .sha256))
    }
  }

  extension AppDataKey {
    fileprivate func noteSecret(in search: MemorySearch) {
      do {
        try withKey { (key) throws(AppDataFailure) in search.add("text key", key) }
      } catch { Issue.record(error) }
    }
  }

  /// Accepts every decision.
  private struct AcceptingServer: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      HTTPResponse(status: 200, body: Array(#"{"status":"accepted"}"#.utf8))
    }
  }
#endif
