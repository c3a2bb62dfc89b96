public import SignetPolicy
public import SignetVault

/// A key of a container: what it is for and what opens it.
///
/// The key itself stays in the vault.
public struct Key: Hashable, Sendable {
  /// What a key is for.
  @nonexhaustive public enum Usage: String, Hashable, Sendable {
    /// Signs decisions about transactions.
    case transactionSigning
    /// Makes one-time codes.
    case oneTimePassword
  }

  /// What it is for.
  public let usage: Usage
  /// What the server calls it.
  public let label: String
  /// The container that it belongs to.
  public let container: SignetVault.ContainerID
  /// What opens it.
  public let protection: ProtectionPolicy
  /// Where it is used: a key in hardware never leaves it; one in software is in memory while it is used, however it is kept.
  public let origin: KeystoreKind
}
