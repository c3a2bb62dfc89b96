#if canImport(Darwin)
  import Darwin
#endif

/// A guard for files that only jailbreaks leave.
public struct JailbreakFileGuard: Guard {
  /// The value `jailbreak-files`.
  public let name = "jailbreak-files"
  private let exists: @Sendable (String) -> Bool

  /// Creates a guard that checks paths with `exists`.
  ///
  /// - Parameter exists: Called on a thread that may block.
  package init(exists: @escaping @Sendable (String) -> Bool) { self.exists = exists }

  #if canImport(Darwin)
    /// Creates a guard of this device.
    ///
    /// In the simulator it finds nothing, because the paths there are the Mac's.
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

  /// Checks whether one of the files exists.
  public func examine() -> [Evidence] {
    Self.paths.filter(exists)
      .map { Evidence(.jailbreakFile, "\($0) exists, which only jailbreaks create") }
  }
}
