public import SignetPolicy
public import SignetVault
public import SignetWire

/// A key of a container: what it is for and what opens it.
///
/// The key itself stays in the vault.
public struct Key: Hashable, Sendable {
  /// What a key is for.
  ///
  /// Operations that ask for a password take one to say whose; `nil` stands for the container's own.
  @nonexhaustive public enum Usage: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Signs decisions about transactions.
    case transactionSigning
    /// Makes one-time codes.
    case oneTimePassword
    /// Signs requests to the server, and reads what it answers.
    case sessionTransport

    /// What the protocol and the command line call it.
    public var name: ContainerProfile.KeyName {
      switch self {
      case .transactionSigning: .signing
      case .oneTimePassword: .otp
      case .sessionTransport: .session
      }
    }

    /// What people call it.
    public var description: String {
      switch self {
      case .transactionSigning: "signing key"
      case .oneTimePassword: "one-time password key"
      case .sessionTransport: "session key"
      }
    }
  }

  /// What it is for.
  public let usage: Usage
  /// What the server calls it.
  public let label: String
  /// The container that it belongs to.
  public let container: SignetVault.ContainerID
  /// What opens it.
  public let protection: ProtectionPolicy
  /// Whether that is its own; else it is the container's or, in the case of the session key, the device's.
  public let hasOwnProtection: Bool
  /// Where it is used: a key in hardware never leaves it; one in software is in memory while it is used, however it is kept.
  public let origin: KeystoreKind
}
