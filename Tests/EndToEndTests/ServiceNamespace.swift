#if os(Linux)
  import BusFixture
  import Foundation
  import SignetTestKit

  /// A place where `signet` finds a test's services where those of the system are, since nothing else can lead it there.
  ///
  /// It is a mount namespace, which takes root.
  struct ServiceNamespace {
    static let isPossible =
      FprintFixture.isPossible && PAMServiceFolder.isPossible

    /// What a program is started with.
    let launcher: [String]

    /// - Parameters:
    ///   - bus: The folder of a bus, in the place of the system's.
    ///   - services: The folder of PAM's services, in the place of the system's.
    init(bus: TemporaryFolder? = nil, services: TemporaryFolder? = nil) {
      let script = """
        set -e
        mkdir -p /run/dbus
        if [ -n "$1" ]; then mount --bind "$1" /run/dbus; fi
        if [ -n "$2" ]; then mount --bind "$2" /etc/pam.d; fi
        shift 2
        exec "$@"
        """
      launcher = [
        "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh",
        bus?.path ?? "", services?.path ?? "",
      ]
    }
  }
#endif
