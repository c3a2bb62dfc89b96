#if os(Linux)
  import Foundation
  import SignetTPM
  import SignetTestKit
  import SignetTesting

  /// A character device with a TPM behind it: a terminal whose other end is connected to swtpm.
  final class PseudoDevice {
    /// The path of the device.
    let path: String
    private let tpm: SimulatedTPM
    private let stop: Int32

    init(_ tpm: SimulatedTPM) throws {
      self.tpm = tpm
      let terminal = try PseudoTerminal()
      path = terminal.path
      var settings = termios()
      var ends: [Int32] = [-1, -1]
      guard tcgetattr(terminal.device, &settings) == 0,
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
      else { throw POSIXError(.ENODEV) }
      cfmakeraw(&settings)
      tcsetattr(terminal.device, TCSANOW, &settings)
      stop = ends[0]
      let link = try TPMKeystore.link(to: TPMAddress(tpm.address), TPMFixture.patient)
      let bridge = Bridge(terminal: terminal, stop: ends[1], link: link)
      Thread.detachNewThread { bridge.run() }
    }

    deinit { close(stop) }

    private final class Bridge: @unchecked Sendable {  // used by its one thread only
      let terminal: PseudoTerminal
      let stop: Int32
      let link: any TPMLink

      init(terminal: PseudoTerminal, stop: Int32, link: any TPMLink) {
        self.terminal = terminal
        self.stop = stop
        self.link = link
      }

      func run() {
        defer { close(stop) }
        var command: [UInt8] = []
        while true {
          var entries = [
            pollfd(fd: terminal.master, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
          ]
          guard poll(&entries, 2, -1) > 0, entries[1].revents == 0 else { return }
          var buffer = [UInt8](repeating: 0, count: 4096)
          let count = read(terminal.master, &buffer, buffer.count)
          guard count > 0 else { return }
          command += buffer[..<count]
          guard command.count >= 6, command.count >= command[2..<6].reduce(0, { $0 << 8 | Int($1) }) else {
            continue
          }
          do {
            try link.send(command)
            let answer = try link.receive()
            // In two parts, as a terminal may return it.
            for part in [answer.prefix(7), answer.dropFirst(7)] {
              _ = Array(part).withUnsafeBytes { write(terminal.master, $0.baseAddress, $0.count) }
            }
          } catch { return }
          command = []
        }
      }
    }
  }
#endif
