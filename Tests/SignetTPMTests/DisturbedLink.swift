#if os(Linux)
  import SignetTPM
  import SignetVault
  import Synchronization

  /// A link to a real TPM that a test can monitor and change.
  final class DisturbedLink: TPMLink {
    private let real: any TPMLink
    private let script: Script
    private var answer: [UInt8]?

    init(_ real: any TPMLink, _ script: Script) { (self.real, self.script) = (real, script) }

    func send(_ command: [UInt8]) throws(KeystoreFailure) {
      script.heard.withLock { $0.append(command) }
      script.sentCommands.withLock { $0.append(command) }
      answer = script.instead(command)
      if answer == nil { try real.send(command) }
      script.sent(command)
    }

    func receive() throws(KeystoreFailure) -> [UInt8] {
      if let answer { return answer }
      let answer = script.changing(try real.receive())
      script.heard.withLock { $0.append(answer) }
      return answer
    }

    /// The events of a link and a test's reactions.
    final class Script: Sendable {
      /// All commands and answers so far.
      let heard = Mutex<[[UInt8]]>([])
      /// All commands so far.
      let sentCommands = Mutex<[[UInt8]]>([])
      /// Returns an answer in place of the TPM, which then does not get the command.
      let instead: @Sendable ([UInt8]) -> [UInt8]?
      /// Called when a command is sent.
      let sent: @Sendable ([UInt8]) -> Void
      /// Changes an answer of the TPM.
      let changing: @Sendable ([UInt8]) -> [UInt8]

      init(
        instead: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil },
        sent: @escaping @Sendable ([UInt8]) -> Void = { _ in },
        changing: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
      ) {
        (self.instead, self.sent, self.changing) = (instead, sent, changing)
      }
    }
  }

  /// The codes of commands at which tests interfere.
  enum CommandCode {
    static let nvDefineSpace: UInt32 = 0x12A
    static let nvIncrement: UInt32 = 0x134
    static let nvRead: UInt32 = 0x14E
    static let policySecret: UInt32 = 0x151
    static let create: UInt32 = 0x153
    static let load: UInt32 = 0x157
    static let unseal: UInt32 = 0x15E

    static func of(_ command: [UInt8]) -> UInt32 { command[6..<10].reduce(0) { $0 << 8 | UInt32($1) } }
    /// An answer with only a response code.
    static func answer(_ code: UInt32) -> [UInt8] {
      [0x80, 0x01, 0, 0, 0, 10] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: code >> ($0 * 8)) }
    }
  }

  extension TPMKeystore {
    /// A keystore whose links follow a script.
    static func disturbed(
      _ address: String, limits: TPMTimeLimits = TPMFixture.patient, _ script: DisturbedLink.Script
    ) throws -> TPMKeystore {
      let address = try TPMAddress(address)
      return TPMKeystore(address, limits: limits) { () throws(KeystoreFailure) in
        DisturbedLink(try TPMKeystore.link(to: address, limits), script)
      }
    }
  }
#endif
