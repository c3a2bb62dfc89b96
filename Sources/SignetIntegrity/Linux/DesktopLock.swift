#if os(Linux)
  import Glibc

  extension ScreenLockGuard {
    /// Creates a guard that reads the user's account and the settings of the KDE desktop.
    ///
    /// An account without a password opens any lock. The settings of other desktops are not readable here: the guard reports
    /// nothing for them, nor without a desktop.
    public init() {
      self.init { DesktopLock(home: "/").state }
    }
  }

  /// The screen lock of a user, as files describe it.
  package struct DesktopLock {
    /// The folder used as `/`, for `etc/passwd` and the user's settings.
    let home: String
    package var user: UInt32 = getuid()

    package init(home: String, user: UInt32 = getuid()) {
      self.home = home
      self.user = user
    }

    package var state: ScreenLockState {
      guard let account = account else { return .unknown }
      if account.count > 1, account[1].isEmpty {
        return .missing("the account \(account[0]) has no password, so a locked screen does not protect it")
      }
      guard account.count > 5,
        let settings = KernelFile.text(path("\(account[5])/.config/kscreenlockerrc"), limit: 16_384)
      else { return .unknown }
      // By default KDE locks after 5 minutes.
      let isOff = settings.split(separator: "\n").contains {
        $0.filter { !$0.isWhitespace } == "Autolock=false"
      }
      return isOff ? .missing("the desktop is set not to lock its screen") : .set
    }

    private var account: [Substring]? {
      KernelFile.text(path("etc/passwd"), limit: 1 << 20)?.split(separator: "\n").lazy
        .map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        .first { $0.count > 2 && UInt32($0[2]) == user }
    }

    private func path(_ path: String) -> String {
      home + (path.hasPrefix("/") ? String(path.dropFirst()) : path)
    }
  }
#endif
