package import SignetCrypto
package import SignetProtocol
package import SignetStorage
import Synchronization

/// The operator's settings of a server.
package struct ServicePolicy: Hashable, Sendable {
  /// The server's URL: its id, and part of all signed data.
  package var serverURL: ServerURL
  /// The pins in activation codes: SHA-256 of SubjectPublicKeyInfo, 32 bytes each.
  package var pins: [[UInt8]]
  /// The content and protection of new containers.
  package var profile: ContainerProfile
  /// The weakest accepted keystore of a device; activations and renewals with a weaker one are rejected.
  package var keystoreRequirement = KeystoreRequirement.any
  /// The numeric addresses from which the operator may query the server's readiness, in the form of `inet_ntop`.
  package var operatorAddresses: Set<String> = ["127.0.0.1", "::1"]
  /// The reactions to broken account policies, and the accepted flavours of apps.
  package var accountRules = AccountRules()
  /// The requirements that relying parties can request by name.
  package var requirements = NamedRequirements()
  /// The costs of the invite key; never below 19 MiB and 2 passes.
  package var inviteCosts: Argon2id = .minimum
  /// The number of wrong proofs after which an invite is void.
  package var inviteAttempts = 5
  /// The lifetime of a handshake, in seconds, during which a person types a password.
  package var handshakeLifetime: Int64 = 600
  /// The default lifetime of an invite, in seconds.
  package var inviteLifetime: Int64 = 86_400
  /// The default lifetime of a transaction, in seconds.
  package var transactionLifetime: Int64 = 300
  /// The limits on transactions that wait for a user, and on their rate.
  package var challengeLimits = TransactionLimits()
  /// The comparison of one-time codes, and the waits that slow down guessing.
  package var codes = OTPSettings()
  /// The number of failed codes in a row that locks a credential, and of wrong signatures that locks a container.
  ///
  /// NIST SP 800-63B-4 section 3.2.2 allows at most 100.
  package var codeAttempts = 100

  /// The largest number of waiting device requests; `nil` for half of the connections.
  package var waitingCount: Int?
  /// The largest number of them from one address; `nil` for half of its connections.
  package var waitingCountPerAddress: Int?

  /// The limits of transactions, including wrong signatures.
  var transactionLimits: TransactionLimits {
    var limits = challengeLimits
    limits.wrongSignatures = codeAttempts
    return limits
  }

  /// Creates settings with defaults for all others.
  package init(serverURL: ServerURL, pins: [[UInt8]], profile: ContainerProfile) {
    self.serverURL = serverURL
    self.pins = pins
    self.profile = profile
  }
}

/// The weakest keystore of a device that a server accepts.
///
/// The device itself states its keystore; nothing attests it.
package enum KeystoreRequirement: String, Hashable, Sendable, CaseIterable {
  /// Any keystore, including a file.
  case any
  /// Hardware, or a program that simulates hardware.
  case simulated
  /// Hardware that does not state that it is simulated.
  case hardware

  /// Returns true if a device with this description is accepted.
  package func accepts(_ device: DeviceDescription) -> Bool {
    switch self {
    case .any: true
    case .simulated: device.keystore != .software
    case .hardware: device.keystore != .software && !device.isSimulated
    }
  }
}

extension DeviceDescription {
  /// The device's keystore as it states itself, for people and the audit log.
  var keystoreText: String { isSimulated ? "\(keystore.rawValue) (simulated)" : keystore.rawValue }
}

/// The settings that all services of a server share, which may change while it runs.
final class CurrentSettings: Sendable {
  /// An immutable snapshot: a reader retains one reference and copies no member.
  private final class Snapshot: Sendable {
    let settings: ServicePolicy

    init(_ settings: ServicePolicy) { self.settings = settings }
  }

  private let snapshot: Mutex<Snapshot>

  init(_ settings: ServicePolicy) { snapshot = Mutex(Snapshot(settings)) }

  /// The current settings.
  ///
  /// It is always inlined: a call would return a copy of all members, with reference counting in every thread.
  @inline(__always) var value: ServicePolicy { snapshot.withLock { $0 }.settings }

  func replace(with settings: ServicePolicy) {
    let next = Snapshot(settings)
    snapshot.withLock { $0 = next }
  }
}
