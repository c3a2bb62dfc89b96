#if os(Linux)
  import CTPM2
  import CTPMPeer
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault

  /// The minimum work of an unlock with a limit of guesses, done in C with nothing around it.
  ///
  /// It reads a counter in the TPM, commits, increments the counter, opens a secret that a PIN FAIL index guards, and commits.
  /// Values are sent in plain form, commands are prepared bytes, and only the code of an answer is checked. The connection stays
  /// open, with the storage key and a session in the TPM.
  @safe final class BareUnlock {
    private let simulator: SimulatedTPM
    private let bare: OpaquePointer
    /// Keeps the storage key loaded.
    private let conversation: Conversation
    private var value: Int64 = 1
    private let reading: [UInt8]
    private let counting: [UInt8]
    private let guessing: [[UInt8]]
    private let unsealing: [[UInt8]]

    /// Prepares everything in a separate TPM.
    ///
    /// - Parameter databasePath: The database of a vault, which is destroyed.
    /// - Throws: Errors of the keystore and swtpm.
    init(databasePath: String) throws {
      simulator = try SimulatedTPM()
      let address = try TPMAddress(simulator.address)
      let secret = SecretBytes.random(byteCount: 32)
      let guess = SecretBytes.random(byteCount: 32)
      let (limited, sealed, counted): ([UInt8], [UInt8], [UInt8])
      do {
        let keystore = TPMKeystore(address)
        limited = try keystore.seal(
          secret, context: [1], authorization: guess, limit: 5, at: try keystore.chooseLocation())
        sealed = try keystore.seal(secret, context: [1])
        counted = try keystore.makeCounter()
      }
      guard case .guessLimited(let object, let index, let digest) = TPMBlob(limited),
        case .sealed(let plain) = TPMBlob(sealed),
        case .counter(let counter, let counterValue) = TPMBlob(counted),
        case .swtpmSocket(let path) = address, let bare = unsafe bare_unlock_open(path)
      else { throw KeystoreFailure.refused }
      unsafe self.bare = bare
      conversation = try Conversation(unsafe BareLink(bare))
      let parent = try conversation.parent()
      let policy = try unsafe BareLink(bare).startPolicySession()

      func ofGuess(_ purpose: String) -> [UInt8] {
        AuthorizationValues.ofGuess(guess, contextDigest: digest, purpose).withSecret { $0.insecureCopy() }
      }
      var objectPolicy = PolicyDigest()
      objectPolicy.secret(name: index.writtenName)
      objectPolicy.authValue()
      let plainValue = AuthorizationValues.ofContext([1], "signet tpm sealed v1").withSecret {
        $0.insecureCopy()
      }
      let noOffset: [UInt8] = [0, 8, 0, 0]
      reading = Self.command(0x14E, [counter.handle, counter.handle], counterValue, noOffset)
      counting = Self.command(0x134, [counter.handle, counter.handle], counterValue)
      let flush = Self.command(0x165, [Self.loadedObject])
      guessing = [
        try Self.load(
          object, ObjectTemplate.guessLimitedData(policy: objectPolicy.bytes, unique: object.unique), parent),
        Self.command(
          0x151, [index.handle, policy], ofGuess("signet tpm guess index v1"),
          [UInt8](repeating: 0, count: 10)),
        // TPM2_PolicyPassword: the value itself is sent.
        Self.command(0x18C, [policy]),
        Self.command(0x15E, [Self.loadedObject], ofGuess("signet tpm guess object v1"), in: policy),
        flush,
      ]
      unsealing = [
        try Self.load(plain, ObjectTemplate.sealedData(unique: plain.unique), parent),
        Self.command(0x15E, [Self.loadedObject], plainValue), flush,
      ]
      let isOpen = unsafe databasePath.withCString { unsafe bare_unlock_use_database(bare, $0) }
      guard isOpen == 1 else { throw KeystoreFailure.disconnected }
    }

    deinit { unsafe bare_unlock_close(bare) }

    /// Does all of the work; returns nanoseconds.
    func unlock() throws -> UInt64 {
      let start = Clocks.wall
      try run(reading)
      try commit()
      try run(counting)
      for command in guessing { try run(command) }
      try commit()
      return Clocks.wall - start
    }

    /// Only loads, unseals and flushes a secret without a guess limit; returns nanoseconds.
    func unseal() throws -> UInt64 {
      let start = Clocks.wall
      for command in unsealing { try run(command) }
      return Clocks.wall - start
    }

    /// Only commits; returns nanoseconds.
    func store() throws -> UInt64 {
      let start = Clocks.wall
      try commit()
      return Clocks.wall - start
    }

    private func commit() throws {
      value += 1
      guard unsafe bare_unlock_commit(bare, value % 2) == 1 else { throw KeystoreFailure.disconnected }
    }

    private func run(_ command: [UInt8]) throws(KeystoreFailure) {
      let code = unsafe bare_unlock_run(bare, command, command.count)
      guard code == 0 else {
        throw .hardware(call: "bare", code: code, meaning: TPMResponse(code).meaning)
      }
    }

    /// The placeholder for the last loaded object.
    private static let loadedObject: UInt32 = 0x80FF_FFFF

    /// A command whose first handle is authorized with a plain value, or that needs no authorization.
    private static func command(
      _ code: UInt32, _ handles: [UInt32], _ value: [UInt8]? = nil, _ parameters: [UInt8] = [],
      in session: UInt32 = 0x4000_0009
    ) -> [UInt8] {
      var rest = handles.flatMap(\.bigEndianBytes)
      if let value {
        let authorization =
          session.bigEndianBytes + [0, 0, 1] + UInt16(value.count).bigEndianBytes + value
        rest += UInt32(authorization.count).bigEndianBytes + authorization
      }
      rest += parameters
      return [0x80, value == nil ? 1 : 2] + UInt32(10 + rest.count).bigEndianBytes + code.bigEndianBytes
        + rest
    }

    private static func load(
      _ object: TPMBlob.TPMObject, _ template: TPM2B_PUBLIC, _ parent: Parent
    ) throws(KeystoreFailure) -> [UInt8] {
      var template = template
      var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
      var count = 0
      guard unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(&template, &bytes, bytes.count, &count) == 0 else {
        throw .refused
      }
      let privatePart = UInt16(object.privatePart.count).bigEndianBytes + object.privatePart
      return command(0x157, [parent.handle], [], privatePart + bytes[..<count])
    }
  }

  /// The connection of a ``BareUnlock``, for the preparation.
  @safe private final class BareLink: TPMLink {
    private let bare: OpaquePointer
    private var answer: [UInt8] = []

    init(_ bare: OpaquePointer) { unsafe self.bare = bare }

    func send(_ command: [UInt8]) throws(KeystoreFailure) {
      var room = [UInt8](repeating: 0, count: TPMFrame.largestByteCount)
      let count = unsafe bare_unlock_exchange(bare, command, command.count, &room, room.count)
      guard count > 0 else { throw .disconnected }
      answer = Array(room[..<count])
    }

    func receive() throws(KeystoreFailure) -> [UInt8] { answer }

    /// Starts a policy session without a salt, and returns its handle.
    func startPolicySession() throws(KeystoreFailure) -> UInt32 {
      let nobody: UInt32 = 0x4000_0007
      let nonce = UInt16(16).bigEndianBytes + [UInt8](repeating: 7, count: 16)
      // No salt, a policy session, no cipher, SHA-256.
      let rest = nobody.bigEndianBytes + nobody.bigEndianBytes + nonce + [0, 0, 1, 0, 0x10, 0, 0x0B]
      try send([0x80, 1] + UInt32(10 + rest.count).bigEndianBytes + UInt32(0x176).bigEndianBytes + rest)
      guard TPMFrame.code(ofAnswer: answer) == 0, let handle = TPMFrame.number(answer, 10) else {
        throw .disconnected
      }
      return handle
    }
  }
#endif
