public import SignetCrypto
public import SignetStorage
public import SignetWire

/// What an operator decides about a server.
public struct ServicePolicy: Hashable, Sendable {
  /// Where devices find the server: its id, and part of everything that is signed.
  public var serverURL: ServerURL
  /// The pins that activation codes carry: SHA-256 of SubjectPublicKeyInfo, 32 bytes each.
  public var pins: [[UInt8]]
  /// What a new container holds and what protects it.
  public var profile: ContainerProfile
  /// What keeps the secrets of a device, at least: others are refused at activation and renewal.
  public var keystoreRequirement = KeystoreRequirement.any
  /// The numeric addresses from which the operator asks whether the server is ready, in the form of `inet_ntop`.
  public var operatorAddresses: Set<String> = ["127.0.0.1", "::1"]
  /// What a broken account policy leads to, and which flavours of apps are taken.
  public var accountRules = AccountRules()
  /// What relying parties can ask for by name.
  package var requirements = NamedRequirements()
  /// Costs of the invite key; never below 19 MiB and 2 passes.
  public var inviteCosts: Argon2id = .minimum
  /// Wrong proofs after which an invite is void.
  public var inviteAttempts = 5
  /// How long a handshake lives, in seconds: a person types a password meanwhile.
  public var handshakeLifetime: Int64 = 600
  /// How long an invite lives unless its maker says otherwise, in seconds.
  public var inviteLifetime: Int64 = 86_400
  /// How long a transaction lives unless its maker says otherwise, in seconds.
  public var transactionLifetime: Int64 = 300
  /// How many transactions a user is asked to decide, and how often.
  public var challengeLimits = TransactionLimits()
  /// How one-time codes are compared, and what slows down who guesses them.
  public var codes = OTPSettings()
  /// Failed codes in a row after which a credential is locked (NIST SP 800-63B-4 section 3.2.2 allows at most 100), and wrong
  /// signatures after which a container is.
  public var codeAttempts = 100

  /// How many requests of devices may wait at one time; `nil` for half of the connections.
  public var waitingCount: Int?
  /// Those of them from one address; `nil` for half of its connections.
  public var waitingCountPerAddress: Int?

  /// What transactions are held to.
  var transactionLimits: TransactionLimits {
    var limits = challengeLimits
    limits.wrongSignatures = codeAttempts
    return limits
  }

  /// Describes a server with the defaults for all but these.
  public init(serverURL: ServerURL, pins: [[UInt8]], profile: ContainerProfile) {
    (self.serverURL, self.pins, self.profile) = (serverURL, pins, profile)
  }
}
