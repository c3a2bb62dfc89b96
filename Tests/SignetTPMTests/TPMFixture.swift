#if os(Linux)
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Testing

  /// A TPM with a keystore in it, for one test.
  struct TPMFixture {
    let tpm: SimulatedTPM
    let keystore: TPMKeystore

    init() throws {
      tpm = try SimulatedTPM()
      keystore = try Self.keystore(in: tpm)
    }

    static func keystore(in tpm: SimulatedTPM, limits: TPMTimeLimits = patient) throws -> TPMKeystore {
      TPMKeystore(try TPMAddress(tpm.address), limits: limits)
    }

    /// Long enough for a machine that is busy with other tests.
    static let patient = TPMTimeLimits(access: .seconds(120), answer: .seconds(120))

    /// Sends a command unchanged, and returns the response code.
    static func send(_ command: [UInt8], to address: String) throws -> UInt32 {
      try code(of: exchange(command, with: address))
    }

    static func exchange(_ command: [UInt8], with address: String) throws -> [UInt8] {
      let link = try TPMKeystore.link(to: TPMAddress(address), patient)
      try link.send(command)
      return try link.receive()
    }

    static func code(of answer: [UInt8]) -> UInt32 { answer[6..<10].reduce(0) { $0 << 8 | UInt32($1) } }

    /// The number of used slots for keys and sessions.
    func loadedHandleCount() throws -> Int {
      try [UInt8(0x80), 0x02].reduce(0) { sum, kind in
        let command: [UInt8] = [
          0x80, 0x01, 0, 0, 0, 22, 0, 0, 0x01, 0x7A, 0, 0, 0, 1, kind, 0, 0, 0, 0, 0, 0, 64,
        ]
        let answer = try Self.exchange(command, with: tpm.address)
        try #require(Self.code(of: answer) == 0)
        return sum + Int(answer[18])
      }
    }

    static func opened(_ outcome: consuming GuessOutcome) -> [UInt8]? {
      switch consume outcome {
      case .opened(let secret): secret.insecureCopy()
      default: nil
      }
    }

    /// The outcome of a guess in a comparable form.
    static func result(_ outcome: consuming GuessOutcome) -> GuessResult {
      switch consume outcome {
      case .opened(let secret): .opened(secret.insecureCopy())
      case .wrong(let remaining): .wrong(remaining)
      case .lockedOut: .lockedOut
      }
    }

    enum GuessResult: Equatable {
      case opened([UInt8])
      case wrong(Int)
      case lockedOut
    }
  }

  extension SecretBytes {
    init(_ text: String) { self.init(copying: Array(text.utf8)) }
  }

  extension TPMKeystore {
    func guess(_ text: String, _ blob: [UInt8], context: [UInt8] = [1]) throws -> TPMFixture.GuessResult {
      TPMFixture.result(try unseal(blob, context: context, authorization: SecretBytes(text)))
    }
  }
#endif
