#if os(Linux)
  import BusFixture
  import Foundation
  import SignetTestKit

  /// A mount namespace in which a test's services replace those of the system; `signet` cannot be redirected in another way.
  ///
  /// To make it takes root.
  struct ServiceNamespace {
    static let isPossible =
      FprintFixture.isPossible && PAMServiceFolder.isPossible

    /// The launcher for programs in the namespace.
    let launcher: [String]

    /// - Parameters:
    ///   - bus: The folder of a bus that replaces the system's.
    ///   - services: The folder of PAM services that replaces the system's.
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
