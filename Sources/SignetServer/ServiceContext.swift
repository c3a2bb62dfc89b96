package import SignetCrypto
package import SignetHTTPClient
import SignetJSON
import SignetProtocol
package import SignetStorage
package import SignetSystem

/// The shared dependencies of all services.
///
/// A service throws its protocol's failures for a caller's mistake, and passes on all lower failures. ``Dialect`` converts
/// them to answers.
///
/// It is a class because each request would otherwise copy it. All members are values or safe to share. The only state of
/// the process is ``handshakeKeys``, which end with it.
package final class ServiceContext: Sendable {
  /// The operator's current settings.
  @inline(__always) package var settings: ServicePolicy { currentSettings.value }
  private let currentSettings: CurrentSettings
  /// The rules that decide which authenticators can answer a transaction.
  package let able: AbleAuthenticators
  /// The durable state.
  package let storage: Storage
  /// The key of secrets at rest.
  package let masterKey: MasterKey
  /// The keys that encrypt handshakes.
  package let handshakeKeys: HandshakeKeys
  /// The time.
  package let clock: any WallClock
  /// The clock for the intervals of loops.
  let timer: any Clock<Duration>
  /// The time since the context was created, by the timer; deadlines are measured with it.
  let elapsed: @Sendable () -> Duration
  /// The source of random bytes.
  package let random: any RandomSource
  /// The log of the server's events.
  package let log: EventLog
  /// The push services.
  package let push: PushSetup
  /// The transport for notices to OpenID Connect clients; `nil` for none.
  package let notices: (any HTTPTransport)?
  /// The UAF setup; `nil` if UAF is not served.
  package let uaf: UAFSetup?
  /// The derivation of keys from invites.
  let derivation: PasswordDerivation
  /// The executor for Argon2id, which blocks its thread for tens of milliseconds.
  let blocking = BlockingExecutor(label: "signet.server.blocking")

  /// Creates a context.
  ///
  /// From then on, MACs under the master key protect the storage's security-relevant rows, and the storage's steps apply the
  /// rules for answers. Without `handshakeKeys`, the context creates keys for this process only.
  package convenience init(
    settings: ServicePolicy, storage: Storage, masterKey: MasterKey,
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(), log: EventLog,
    push: PushSetup = .none, notices: (any HTTPTransport)? = nil,
    uaf: UAFSetup? = nil, handshakeKeys: HandshakeKeys? = nil
  ) {
    self.init(
      settings: settings, storage: storage, masterKey: masterKey, clock: clock, random: random, log: log,
      push: push, notices: notices, uaf: uaf, handshakeKeys: handshakeKeys, derivation: .argon2id)
  }

  /// Creates a context with a shorter derivation and a timer that a test controls.
  package init(
    settings: ServicePolicy, storage: Storage, masterKey: MasterKey,
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(), log: EventLog,
    push: PushSetup = .none, notices: (any HTTPTransport)? = nil,
    uaf: UAFSetup? = nil, handshakeKeys: HandshakeKeys? = nil, derivation: PasswordDerivation,
    timer: any Clock<Duration> = ContinuousClock()
  ) {
    self.derivation = derivation
    self.timer = timer
    elapsed = Self.elapsed(on: timer)
    self.handshakeKeys =
      handshakeKeys ?? HandshakeKeys(lifetime: settings.handshakeLifetime, random: random)
    (currentSettings, self.masterKey) = (CurrentSettings(settings), masterKey)
    able = AbleAuthenticators(currentSettings, uaf)
    self.storage = storage.authenticatingRows(with: masterKey.rowKey()).judging(by: able.rules)
    self.clock = clock
    self.random = random
    self.log = log
    self.push = push
    self.notices = notices
    self.uaf = uaf
  }

  private static func elapsed<Source: Clock<Duration>>(on clock: Source) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  /// Applies other settings to all services.
  ///
  /// The URL and the limits of connections were used at the start and do not change.
  package func apply(_ settings: ServicePolicy) { currentSettings.replace(with: settings) }

  package func audit(by actor: AuditActor) -> Audit { Audit(by: actor, time: clock.now) }

  /// Returns a function that creates the events of everything revoked together with a container or device.
  func losses(by actor: AuditActor) -> @Sendable (DeviceLoss) -> AuditRecord {
    let audit = audit(by: actor)
    return { loss in
      switch loss {
      case .container(let id): audit(.containerRevoked(container: id))
      case .key(let user, let aaid, let key): audit(.uafRevoked(user: user, aaid: aaid, key: key))
      case .target(let id): audit(.uafTargetRemoved(target: id))
      }
    }
  }
}

extension ContainerProfile {
  init(stored bytes: [UInt8]) throws(WireFailure) {
    let object: JSONObject
    do { object = try JSONObject(parsing: bytes) } catch { throw .json(error) }
    try self.init(object)
  }
}

extension Problem {
  /// Creates the problem for a user that does not exist, with the action for an operator.
  init(noUser id: UserID?) {
    self.init(.unknown, "There is no user \"\(id?.text ?? "")\"; 'signet-server user add' adds one.")
  }

  init(_ failure: WireFailure) { self.init(.malformed, failure.description) }
}
