package import SignetUAF
import Synchronization

/// What UAF is served with.
public final class UAFSetup: Sendable {
  /// What the operator decided.
  public let settings: UAFSettings
  private let current: Mutex<AuthenticatorModels>
  private let read: (@Sendable () throws(ServerFolderFailure) -> AuthenticatorModels)?

  /// Puts settings and models together.
  ///
  /// - Parameters:
  ///   - settings: What the operator decided.
  ///   - models: The models of authenticators that are known; all others are refused.
  ///   - read: Reads the models again; `nil` where they stay.
  package init(
    _ settings: UAFSettings, models: AuthenticatorModels,
    read: (@Sendable () throws(ServerFolderFailure) -> AuthenticatorModels)? = nil
  ) {
    (self.settings, self.read) = (settings, read)
    current = Mutex(models)
  }

  /// The models of authenticators that are known.
  package var models: AuthenticatorModels { current.withLock { $0 } }

  /// The policy of a name; without a name the default one, which is all known models where none is set.
  package func policy(named name: String?) -> Policy? {
    if let policy = settings.policies[name ?? UAFNames.defaultPolicy] { return policy }
    guard name == nil || name == UAFNames.defaultPolicy else { return nil }
    return Policy(accepted: models.aaids.map { [MatchCriteria(aaids: [$0])] })
  }

  /// Reads the metadata statements again; where one is none, all stay as they were.
  ///
  /// - Returns: How many models are known now.
  /// - Throws: ``ServerFolderFailure``.
  func readMetadata() throws(ServerFolderFailure) -> Int {
    if let models = try read?() { current.withLock { $0 = models } }
    return models.aaids.count
  }
}
