#if os(Linux)
  import Foundation
  import SignetTPM
  import SignetTesting

  /// A character device with a TPM behind it: a terminal whose other end is connected to swtpm.
  final class PseudoDevice {
    /// The path of the device.
    let path: String
    private let tpm: SimulatedTPM
    private let device: Int32
    private let stop: Int32

    init(_ tpm: SimulatedTPM) throws {
      self.tpm = tpm
      let main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      // The requests of tty_ioctl(4) behind `unlockpt` and `ptsname`, which Swift's Glibc module leaves out.
      var lock: Int32 = 0
      var number: UInt32 = 0
      guard main >= 0, ioctl(main, 0x4004_5431, &lock) == 0, ioctl(main, 0x8004_5430, &number) == 0 else {
        throw POSIXError(.ENODEV)
      }
      path = "/dev/pts/\(number)"
      // Kept open: without a process at the other end, the terminal hangs up.
      device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      var settings = termios()
      var ends: [Int32] = [-1, -1]
      guard device >= 0, tcgetattr(device, &settings) == 0,
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
      else { throw POSIXError(.ENODEV) }
      cfmakeraw(&settings)
      tcsetattr(device, TCSANOW, &settings)
      stop = ends[0]
      let link = try TPMKeystore.link(to: TPMAddress(tpm.address), TPMFixture.patient)
      let bridge = Bridge(main: main, stop: ends[1], link: link)
      Thread.detachNewThread { bridge.run() }
    }

    deinit {
      close(stop)
      close(device)
    }

    private final class Bridge: @unchecked Sendable {  // used by its one thread only
      let main: Int32
      let stop: Int32
      let link: any TPMLink

      init(main: Int32, stop: Int32, link: any TPMLink) {
        (self.main, self.stop, self.link) = (main, stop, link)
      }

      func run() {
        defer {
          close(main)
          close(stop)
        }
        var command: [UInt8] = []
        while true {
          var entries = [
            pollfd(fd: main, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
          ]
          guard poll(&entries, 2, -1) > 0, entries[1].revents == 0 else { return }
          var buffer = [UInt8](repeating: 0, count: 4096)
          let count = read(main, &buffer, buffer.count)
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
              _ = Array(part).withUnsafeBytes { write(main, $0.baseAddress, $0.count) }
            }
          } catch { return }
          command = []
        }
      }
    }
  }
#endif
