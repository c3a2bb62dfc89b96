#if canImport(Darwin)
  import Darwin
#endif

/// A guard for libraries that only jailbreaks and toolkits load.
public struct LoadedImageGuard: Guard {
  /// The value `images`.
  public let name = "images"
  private let images: @Sendable () -> [String]

  /// Creates a guard that reads the paths of the loaded images with `images`.
  package init(images: @escaping @Sendable () -> [String]) { self.images = images }

  #if canImport(Darwin)
    /// Creates a guard of this process.
    public init() {
      self.init {
        (0..<_dyld_image_count()).compactMap { index in
          guard let name = unsafe _dyld_get_image_name(index) else { return nil }
          return unsafe String(cString: name)
        }
      }
    }
  #endif

  private static let parts = [
    "frida", "substrate", "substitute", "libhooker", "cycript", "sslkillswitch", "tweakinject", "ellekit",
    "libjailbreak",
  ]

  /// Compares the names of the loaded images with known names.
  public func examine() -> [Evidence] {
    images().compactMap { path in
      let file = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
      guard Self.parts.contains(where: file.contains) else { return nil }
      return Evidence(.jailbreakImage, "\(file) is loaded, as jailbreaks and toolkits do")
    }
  }
}
