#if canImport(Darwin)
  import Darwin
  import Foundation

  extension Finding {
    /// A file that only jailbreaks leave is there.
    public static let jailbreakFile = Finding("jailbreak.file", .jailbreak, weight: 0.8)
    /// The app could write outside of its own folders.
    public static let openSandbox = Finding("jailbreak.sandbox", .jailbreak, weight: 1)
    /// A library that only jailbreaks and toolkits load is loaded.
    public static let jailbreakImage = Finding("jailbreak.image", .jailbreak, weight: 1)
    /// An app that only jailbreaks bring answers a URL.
    public static let jailbreakScheme = Finding("jailbreak.scheme", .jailbreak, weight: 0.8)
  }

  /// Files that only jailbreaks leave.
  ///
  /// In the simulator the Mac's own files are seen, and nothing is said.
  public struct JailbreakFileGuard: Guard {
    /// `jailbreak-files`.
    public let name = "jailbreak-files"

    /// A guard of this device.
    public init() {}

    private static let paths = [
      "/var/jb", "/Applications/Cydia.app", "/Applications/Sileo.app", "/Applications/Zebra.app",
      "/Library/MobileSubstrate/MobileSubstrate.dylib", "/usr/lib/libhooker.dylib",
      "/usr/lib/libsubstitute.dylib",
      "/usr/sbin/frida-server", "/private/var/lib/apt", "/private/var/lib/dpkg", "/etc/apt",
      "/.bootstrapped_electra",
      "/.installed_unc0ver", "/usr/libexec/cydia",
    ]

    /// Looks for the files.
    public func examine() -> [Evidence] {
      #if os(iOS) && !targetEnvironment(simulator)
        Self.paths.filter { unsafe access($0, F_OK) == 0 }
          .map { Evidence(.jailbreakFile, "\($0) is there, which only jailbreaks leave") }
      #else
        []
      #endif
    }
  }

  /// Whether the app can write where its sandbox should not let it.
  public struct SandboxGuard: Guard {
    /// `sandbox`.
    public let name = "sandbox"

    /// A guard of this app.
    public init() {}

    /// Tries to write.
    public func examine() -> [Evidence] {
      #if os(iOS) && !targetEnvironment(simulator)
        let path = "/private/signet-\(UUID().uuidString)"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return [] }
        close(descriptor)
        _ = unsafe unlink(path)
        return [Evidence(.openSandbox, "the app could write outside of its own folders")]
      #else
        return []
      #endif
    }
  }

  /// Libraries that only jailbreaks and toolkits load.
  public struct LoadedImageGuard: Guard {
    /// `images`.
    public let name = "images"

    /// A guard of this process.
    public init() {}

    private static let parts = [
      "frida", "substrate", "substitute", "libhooker", "cycript", "sslkillswitch", "tweakinject", "ellekit",
      "libjailbreak",
    ]

    /// Looks at the loaded images.
    public func examine() -> [Evidence] {
      (0..<_dyld_image_count()).compactMap { index in
        guard let name = unsafe _dyld_get_image_name(index) else { return nil }
        let path = unsafe String(cString: name)
        let file = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        guard Self.parts.contains(where: file.contains) else { return nil }
        return Evidence(.jailbreakImage, "\(file) is loaded")
      }
    }
  }

  /// Apps that only jailbreaks bring, by the URLs that they answer.
  ///
  /// Only the app's main thread may ask the system, so that the app brings the question: `UIApplication.shared.canOpenURL`, asked
  /// beforehand for ``schemes``, which its `LSApplicationQueriesSchemes` must name.
  public struct URLSchemeGuard: Guard {
    /// `schemes`.
    public let name = "schemes"
    /// The schemes that are asked for.
    public static let schemes = ["cydia", "sileo", "zbra", "filza", "undecimus"]
    private let canOpen: @Sendable (String) -> Bool

    /// A guard that asks the app.
    public init(canOpen: @escaping @Sendable (String) -> Bool) { self.canOpen = canOpen }

    /// Asks for each scheme.
    public func examine() -> [Evidence] {
      Self.schemes.filter(canOpen).map { Evidence(.jailbreakScheme, "an app answers \($0): addresses") }
    }
  }

  extension Integrity {
    static var appleGuards: [any Guard] { [JailbreakFileGuard(), SandboxGuard(), LoadedImageGuard()] }
  }
#endif
