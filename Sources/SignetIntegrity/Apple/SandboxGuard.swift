#if canImport(Darwin)
  import Darwin
  import Foundation
#endif

/// Whether the app can write where its sandbox should not let it.
public struct SandboxGuard: Guard {
  /// `sandbox`.
  public let name = "sandbox"
  private let canWrite: @Sendable (String) -> Bool

  /// A guard that tries by these means.
  ///
  /// - Parameter canWrite: Makes a file in a folder, and takes it away again.
  package init(canWrite: @escaping @Sendable (String) -> Bool) { self.canWrite = canWrite }

  #if canImport(Darwin)
    /// A guard of this app.
    ///
    /// In the simulator, and in a Mac's app without a sandbox, nothing is said.
    public init() {
      self.init { folder in
        #if os(iOS) && !targetEnvironment(simulator)
          let path = "\(folder)/signet-\(UUID().uuidString)"
          let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
          guard descriptor >= 0 else { return false }
          close(descriptor)
          _ = unsafe unlink(path)
          return true
        #else
          return false
        #endif
      }
    }
  #endif

  static let folders = ["/private", "/private/var/mobile", "/var/root"]

  /// Tries to write.
  public func examine() -> [Evidence] {
    guard let folder = Self.folders.first(where: canWrite) else { return [] }
    return [Evidence(.openSandbox, "the app could write to \(folder), outside of its own folders")]
  }
}
