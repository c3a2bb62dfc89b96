#if os(Linux)
  import SignetTPM
  import SignetVault
  import Synchronization

  /// A link to a TPM that counts and times the commands.
  final class TimedLink: TPMLink {
    /// The commands over all links of a keystore.
    final class Record: Sendable {
      /// The code of a command, its time of sending, and the nanoseconds until its answer.
      struct Command {
        let code: UInt32
        let start: UInt64
        let duration: UInt64
      }

      private let commands = Mutex<[Command]>([])

      /// Returns the recorded commands and clears the record.
      func take() -> [Command] {
        commands.withLock { commands in
          defer { commands = [] }
          return commands
        }
      }

      fileprivate func add(_ command: Command) { commands.withLock { $0.append(command) } }
    }

    private let real: any TPMLink
    private let record: Record
    private var code: UInt32 = 0
    private var start: UInt64 = 0

    init(_ real: any TPMLink, _ record: Record) { (self.real, self.record) = (real, record) }

    func send(_ command: [UInt8]) throws(KeystoreFailure) {
      code = command.count < 10 ? 0 : command[6..<10].reduce(0) { $0 << 8 | UInt32($1) }
      start = Clocks.wall
      try real.send(command)
    }

    func receive() throws(KeystoreFailure) -> [UInt8] {
      let answer = try real.receive()
      record.add(Record.Command(code: code, start: start, duration: Clocks.wall - start))
      return answer
    }
  }

  extension TPMKeystore {
    /// Returns a keystore whose commands are counted and timed.
    static func timed(
      _ address: String, _ limits: TPMTimeLimits, _ record: TimedLink.Record
    ) throws -> TPMKeystore {
      let address = try TPMAddress(address)
      return TPMKeystore(address, limits: limits) { () throws(KeystoreFailure) in
        TimedLink(try TPMKeystore.link(to: address, limits), record)
      }
    }
  }
#endif
