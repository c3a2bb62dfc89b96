#if canImport(Darwin)
  import Darwin
#endif

/// Files that only jailbreaks leave.
public struct JailbreakFileGuard: Guard {
  /// `jailbreak-files`.
  public let name = "jailbreak-files"
  private let exists: @Sendable (String) -> Bool

  /// A guard that asks for each path whether something is there.
  ///
  /// - Parameter exists: Asked on a thread that may block.
  package init(exists: @escaping @Sendable (String) -> Bool) { self.exists = exists }

  #if canImport(Darwin)
    /// A guard of this device.
    ///
    /// In the simulator the Mac's own files are seen, and nothing is said.
    public init() {
      self.init { path in
        #if os(iOS) && !targetEnvironment(simulator)
          unsafe access(path, F_OK) == 0
        #else
          false
        #endif
      }
    }
  #endif

  package static let paths = [
    "/var/jb", "/Applications/Cydia.app", "/Applications/Sileo.app", "/Applications/Zebra.app",
    "/Library/MobileSubstrate/MobileSubstrate.dylib", "/usr/lib/libhooker.dylib",
    "/usr/lib/libsubstitute.dylib", "/usr/sbin/frida-server", "/private/var/lib/apt",
    "/private/var/lib/dpkg", "/etc/apt", "/.bootstrapped_electra", "/.installed_unc0ver",
    "/usr/libexec/cydia",
  ]

  /// Looks for the files.
  public func examine() -> [Evidence] {
    Self.paths.filter(exists)
      .map { Evidence(.jailbreakFile, "\($0) is there, which only jailbreaks leave") }
  }
}
