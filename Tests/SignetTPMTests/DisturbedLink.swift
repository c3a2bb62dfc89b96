#if os(Linux)
  import SignetTPM
  import SignetVault
  import Synchronization

  /// A link to a real TPM that a test listens to, or steps into.
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

    /// What happens on a link.
    final class Script: Sendable {
      /// All commands and answers so far.
      let heard = Mutex<[[UInt8]]>([])
      /// All commands so far.
      let sentCommands = Mutex<[[UInt8]]>([])
      /// An answer that the TPM never gave, to a command that it never gets.
      let instead: @Sendable ([UInt8]) -> [UInt8]?
      /// Called when a command is on its way.
      let sent: @Sendable ([UInt8]) -> Void
      /// What becomes of an answer of the TPM.
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

  /// The codes of commands that tests step in at.
  enum CommandCode {
    static let nvDefineSpace: UInt32 = 0x12A
    static let nvIncrement: UInt32 = 0x134
    static let nvRead: UInt32 = 0x14E
    static let policySecret: UInt32 = 0x151
    static let create: UInt32 = 0x153
    static let load: UInt32 = 0x157
    static let unseal: UInt32 = 0x15E

    static func of(_ command: [UInt8]) -> UInt32 { command[6..<10].reduce(0) { $0 << 8 | UInt32($1) } }
    /// An answer that is a response code and nothing else.
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
