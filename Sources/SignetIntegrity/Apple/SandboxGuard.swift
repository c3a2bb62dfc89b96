#if canImport(Darwin)
  import Darwin
  import Foundation
#endif

/// A guard that tries to write outside the app's sandbox.
public struct SandboxGuard: Guard {
  /// The value `sandbox`.
  public let name = "sandbox"
  private let canWrite: @Sendable (String) -> Bool

  /// Creates a guard that tries with `canWrite`.
  ///
  /// - Parameter canWrite: Creates and deletes a file in a folder; returns true on success.
  package init(canWrite: @escaping @Sendable (String) -> Bool) { self.canWrite = canWrite }

  #if canImport(Darwin)
    /// Creates a guard of this app.
    ///
    /// In the simulator, and in a Mac app without a sandbox, it finds nothing.
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

  /// Tries to write to folders outside the sandbox.
  public func examine() -> [Evidence] {
    guard let folder = Self.folders.first(where: canWrite) else { return [] }
    return [Evidence(.openSandbox, "the app could write to \(folder), outside of its own folders")]
  }
}
