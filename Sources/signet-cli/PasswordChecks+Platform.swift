import Signet

#if os(Linux)
  import SignetLinux
#endif

extension PasswordChecks {
  /// The checks of new passwords in this program: the dictionary of the platform, if it has one.
  static var platform: PasswordChecks {
    #if os(Linux)
      .linux
    #else
      PasswordChecks()
    #endif
  }
}
