import SignetConcurrency
public import SignetCrypto
import SignetJSON
public import SignetStorage
public import SignetTransport
public import SignetWire

/// What every service works with.
///
/// A service throws what its protocol refuses where the caller is to blame; what fails below it passes as it is, and ``Dialect`` says what
/// the caller hears.
///
/// A class, since each request would copy it. All of it is a value or safe to share. No state lives in the process but ``handshakeKeys``, which are forgotten with it.
public final class ServiceContext: Sendable {
  /// What the operator decided, as it is now.
  @inline(__always) public var settings: ServicePolicy { currentSettings.value }
  private let currentSettings: CurrentSettings
  /// Which authenticators can answer a transaction.
  package let able: AbleAuthenticators
  /// The durable state.
  public let storage: Storage
  /// The key of secrets at rest.
  public let masterKey: MasterKey
  /// What handshakes are sealed under.
  public let handshakeKeys: HandshakeKeys
  /// The time.
  public let clock: any WallClock
  /// What loops wait by.
  let timer: any Clock<Duration>
  /// How long it is since the context was made, by the timer: what ends after some time ends by this.
  let elapsed: @Sendable () -> Duration
  /// Randomness.
  public let random: any RandomSource
  /// Where events go.
  public let log: EventLog
  /// What carries pushes.
  public let push: PushSetup
  /// What carries notices to clients of OpenID Connect; `nil` for nothing.
  public let notices: (any HTTPTransport)?
  /// What UAF is served with; `nil` where it is not.
  public let uaf: UAFSetup?
  /// How invites become keys.
  let derivation: PasswordDerivation
  /// Where Argon2id runs: it holds its thread for tens of milliseconds.
  let blocking = BlockingExecutor(label: "signet.server.blocking")

  /// Puts a context together; rows of the storage that decide by themselves have MACs under the master key from then on, and its
  /// steps know who can answer a request.
  ///
  /// `handshakeKeys` are those of this process alone where there are none.
  public convenience init(
    settings: ServicePolicy, storage: Storage, masterKey: MasterKey,
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(), log: EventLog,
    push: PushSetup = .none, notices: (any HTTPTransport)? = nil,
    uaf: UAFSetup? = nil, handshakeKeys: HandshakeKeys? = nil
  ) {
    self.init(
      settings: settings, storage: storage, masterKey: masterKey, clock: clock, random: random, log: log,
      push: push, notices: notices, uaf: uaf, handshakeKeys: handshakeKeys, derivation: .argon2id)
  }

  /// The same with a derivation that a test shortens, and a timer that it turns.
  package init(
    settings: ServicePolicy, storage: Storage, masterKey: MasterKey,
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(), log: EventLog,
    push: PushSetup = .none, notices: (any HTTPTransport)? = nil,
    uaf: UAFSetup? = nil, handshakeKeys: HandshakeKeys? = nil, derivation: PasswordDerivation,
    timer: any Clock<Duration> = ContinuousClock()
  ) {
    (self.derivation, self.timer, elapsed) = (derivation, timer, Self.elapsed(on: timer))
    self.handshakeKeys =
      handshakeKeys ?? HandshakeKeys(lifetime: settings.handshakeLifetime, random: random)
    (currentSettings, self.masterKey) = (CurrentSettings(settings), masterKey)
    able = AbleAuthenticators(currentSettings, uaf)
    self.storage = storage.authenticatingRows(with: masterKey.rowKey()).judging(by: able.rules)
    (self.clock, self.random, self.log, self.push) = (clock, random, log, push)
    (self.notices, self.uaf) = (notices, uaf)
  }

  private static func elapsed<Source: Clock<Duration>>(on clock: Source) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  /// Has all services go by other settings from now on.
  ///
  /// What was made of the settings at the start stays: the URL, and the limits of connections.
  package func apply(_ settings: ServicePolicy) { currentSettings.replace(with: settings) }

  package func audit(by actor: AuditActor) -> Audit { Audit(by: actor, time: clock.now) }

  /// Makes the events of what goes with a container, or with a device.
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
  /// Reads what a record keeps.
  init(stored bytes: [UInt8]) throws(WireFailure) {
    let object: JSONObject
    do { object = try JSONObject(parsing: bytes) } catch { throw .json(error) }
    try self.init(object)
  }
}

extension Problem {
  /// A problem for a user that is not there, with what an operator does about it.
  init(noUser id: UserID?) {
    self.init(.unknown, "There is no user \"\(id?.text ?? "")\"; 'signet-server user add' adds one.")
  }

  /// A problem for a message that is not what the protocol says.
  init(_ failure: WireFailure) { self.init(.malformed, failure.description) }
}
