public import SignetPolicy
public import SignetProtocol
public import SignetVault

/// A key of a container: its usage and its protection.
///
/// The key itself stays in the vault.
public struct Key: Hashable, Sendable {
  /// The usage of a key.
  ///
  /// Operations with a password take a usage to name the key; `nil` means the container's own password.
  @nonexhaustive public enum Usage: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Signs decisions about transactions.
    case transactionSigning
    /// Generates one-time codes.
    case oneTimePassword
    /// Signs requests to the server; its domain also has the key that decrypts the answers.
    case sessionTransport

    /// The name in the protocol and on the command line.
    public var name: ContainerProfile.KeyName {
      switch self {
      case .transactionSigning: .signing
      case .oneTimePassword: .otp
      case .sessionTransport: .session
      }
    }

    /// The name for display.
    public var description: String {
      switch self {
      case .transactionSigning: "signing key"
      case .oneTimePassword: "one-time password key"
      case .sessionTransport: "session key"
      }
    }
  }

  /// The usage of the key.
  public let usage: Usage
  /// The server's label for the key.
  public let label: String
  /// The container that the key belongs to.
  public let container: LocalContainerID
  /// The protection policy.
  public let protection: ProtectionPolicy
  /// Indicates whether the protection is the key's own; otherwise it is the container's or, for the session key, the device's.
  public let hasOwnProtection: Bool
  /// The keystore that uses the key: a hardware key never leaves it, a software key is in memory while in use.
  public let origin: KeystoreKind
}
