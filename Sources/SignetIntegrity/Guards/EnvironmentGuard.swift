#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A guard for environment variables that load code into the process, or change the behaviour of libraries unnoticed.
///
/// A library may have removed a variable from the environment. The guard therefore also reads the initial environment of the
/// process, if the kernel shows it.
public struct EnvironmentGuard: Guard {
  /// The value `environment`.
  public let name = "environment"
  private let variables: @Sendable () -> [String: String]

  /// Creates a guard of this process.
  public init() { self.init { Self.present() } }

  package init(variables: @escaping @Sendable () -> [String: String]) { self.variables = variables }

  static let loading: Set<String> = [
    "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "OPENSSL_ENGINES", "OPENSSL_MODULES", "GCONV_PATH",
    "PKCS11_PROVIDER_MODULE",
  ]
  static let misleading: Set<String> = [
    "LD_LIBRARY_PATH", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LD_PROFILE", "LD_SHOW_AUXV", "LD_DYNAMIC_WEAK",
    "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "OPENSSL_CONF", "SSLKEYLOGFILE", "MALLOC_TRACE",
    "HOSTALIASES",
    "RESOLV_HOST_CONF", "LOCPATH", "NLSPATH",
  ]

  /// Checks the known variables and no others.
  public func examine() -> [Evidence] {
    variables().sorted { $0.key < $1.key }.compactMap { name, value in
      guard !value.isEmpty else { return nil }
      if Self.loading.contains(name) {
        return Evidence(.loadingVariable, "\(name) loads code into this program: \(value)")
      }
      if Self.misleading.contains(name) {
        return Evidence(.unsafeVariable, "\(name) is set, which changes what libraries do: \(value)")
      }
      return nil
    }
  }

  private static func present() -> [String: String] {
    var found: [String: String] = [:]
    // Only the known names are read: other variables may hold private data.
    for name in loading.union(Self.misleading) {
      if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
    }
    #if os(Linux)
      let block = KernelFile.contents("/proc/self/environ", limit: 1 << 20) ?? []
      for entry in block.split(separator: 0) {
        guard let sign = entry.firstIndex(of: 61) else { continue }
        let name = String(decoding: entry[..<sign], as: UTF8.self)
        guard found[name] == nil, loading.contains(name) || Self.misleading.contains(name) else { continue }
        found[name] = String(decoding: entry[(sign + 1)...], as: UTF8.self)
      }
    #endif
    return found
  }
}
