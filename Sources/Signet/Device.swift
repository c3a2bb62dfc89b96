import SignetConcurrency
public import SignetCrypto
#if os(Linux)
  import SignetDictionary
#endif
public import SignetIntegrity
public import SignetPolicy
public import SignetTransport
public import SignetVault
public import SignetWire
import Synchronization

/// This installation: its containers and what they can do.
///
/// Any number of devices may be opened on one folder, in any number of processes.
public final class Device: Sendable {
  /// Makes what carries requests to a server.
  public typealias TransportFactory =
    @Sendable (ConnectionConfiguration) throws(TransportFailure) -> any HTTPTransport

  /// How servers are reached; a container's own certificate authorities and pins take the place of those here.
  public let connection: ConnectionConfiguration
  package let vault: Vault
  let clock: any WallClock
  let random: any RandomSource
  let blocking = BlockingExecutor(label: "signet.device")
  let passwordCaches = Mutex<[SignetVault.ContainerID: CachedSecret<UnlockedDomain>]>([:])
  let passwordChecks: PasswordChecks
  let biometrics: (any BiometricGate)?
  let passcode: (any DevicePasscode)?
  /// How the policies of containers and accounts are evaluated.
  public let accountPolicies: AccountPolicies
  let evidenceCollector: AccountEvidenceCollector
  let lockObservers = AccountLockObservers()
  /// What stands before everything that a user's authentication opens, where the app has brought it.
  let integrity: IntegrityGate?
  let sessions = OpenSessions()
  private let makeTransport: TransportFactory
  private let transports = Mutex<[ConnectionConfiguration: any HTTPTransport]>([:])

  /// Opens a device over a vault.
  ///
  /// - Parameters:
  ///   - vault: Where containers are kept.
  ///   - connection: How servers are reached: time limit (30 s), retries (0), certificate authorities.
  ///   - clock: The time that servers are told.
  ///   - random: Randomness for nonces and names.
  ///   - passwordChecks: What new passwords are checked with beside the server's policy: the dictionary, and the app's own
  ///     rules.
  ///   - biometrics: What matches fingers or faces: `FprintGate()` on Linux. Without one, this device cannot.
  ///   - passcode: What checks the passcode of the device: `PAMPasscode()` on Linux. Without one, this device cannot.
  ///   - accountPolicies: How the policies of containers and accounts are evaluated: the app's own beside the built-in ones, its
  ///     version, and what measures whether the device was tampered with.
  ///   - integrity: Looks for tampering each time something is opened, and reacts. Without it nobody looks.
  ///   - transport: Makes what carries requests; libcurl unless told otherwise.
  public init(
    vault: Vault, connection: ConnectionConfiguration = ConnectionConfiguration(),
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(),
    passwordChecks: PasswordChecks = .standard,
    biometrics: (any BiometricGate)? = nil, passcode: (any DevicePasscode)? = nil,
    accountPolicies: AccountPolicies = AccountPolicies(), integrity: IntegrityGate? = nil,
    transport: @escaping TransportFactory = { (configuration) throws(TransportFailure) in
      try CurlTransport(configuration)
    }
  ) {
    (self.vault, self.connection, self.clock, self.random) = (vault, connection, clock, random)
    self.passwordChecks = passwordChecks
    (self.biometrics, self.passcode) = (biometrics, passcode)
    self.accountPolicies = accountPolicies
    self.integrity = integrity
    let own = Self.ownSources(
      vault: vault, biometrics: biometrics, passcode: passcode, appVersion: accountPolicies.appVersion)
    evidenceCollector = AccountEvidenceCollector(own + accountPolicies.sources)
    makeTransport = transport
  }

  /// What keeps the secrets of this device; the server is told.
  public var keystoreKind: KeystoreKind { vault.keystoreKind }

  // MARK: Containers

  /// The confirmed containers that fit, oldest first.
  ///
  /// - Throws: ``SignetFailure``.
  public func containers(
    matching filter: ContainerFilter = ContainerFilter()
  ) async throws(SignetFailure) -> [Container] {
    try await stored(filter, state: .active)
  }

  /// The containers that the server has not confirmed yet; ``finishActivations()`` goes on with them.
  ///
  /// - Throws: ``SignetFailure``.
  public func unconfirmedContainers() async throws(SignetFailure) -> [Container] {
    try await stored(ContainerFilter(), state: .unconfirmed)
  }

  /// A container by its name on this device.
  ///
  /// - Throws: ``SignetFailure/noSuchContainer``.
  public func container(_ id: SignetVault.ContainerID) async throws(SignetFailure) -> Container {
    try await Container(vaulted(await vault.container(id)))
  }

  private func stored(
    _ filter: ContainerFilter, state: SignetVault.Container.State
  ) async throws(SignetFailure) -> [Container] {
    let wanted = SignetVault.ContainerFilter(
      userID: filter.user?.text, server: filter.server?.shortForm, state: state)
    var containers: [Container] = []
    for stored in try await vaulted(await vault.containers(matching: wanted)) {
      let container = try Container(stored)
      if let name = filter.name, !container.name.utf8.elementsEqual(name.utf8) { continue }
      containers.append(container)
    }
    return containers
  }

  // MARK: Sessions

  func session(
    _ server: ServerURL, _ settings: ConnectionSettings
  ) throws(SignetFailure) -> ServerSession {
    var configuration = connection
    if let authorities = settings.certificateAuthoritiesPEM {
      configuration.certificateAuthoritiesPEM = authorities
    }
    if !settings.pins.isEmpty { configuration.pins = settings.pins }
    return ServerSession(
      server: server, transport: try transport(configuration), clock: clock, random: random)
  }

  /// Has sessions that are made from now on use new connections.
  ///
  /// While a user was asked something, the server may have closed those that were kept, and no request is sent twice.
  func forgetConnections() { transports.withLock { $0 = [:] } }

  package func session(_ container: Container) async throws(SignetFailure) -> ServerSession {
    let stored = try await vaulted(await vault.container(container.id))
    var session = try session(container.server, stored.attributes.connection)
    session.hears = { isKnown in
      do throws(SignetFailure) { if isKnown { try await self.noteContact(of: container.id) } } catch {
        return
      }
      await self.note(.unknownToServer, !isKnown, of: container)
    }
    return session
  }

  /// Notes whether the server's answers show something of a container, and since when.
  ///
  /// What the server said stands; where it cannot be kept, the next request hears it again.
  func note(_ trait: ContainerNotes.Trait, _ isSo: Bool, of container: Container) async {
    do throws(SignetFailure) {
      let stored = try await vaulted(await vault.container(container.id))
      guard isSo == (ContainerNotes(parsing: stored.attributes.extra)[trait] == nil) else { return }
      let now = clock.now
      try await vaulted(
        await vault.changeExtra(of: container.id, isCounted: false) { (extra) throws(VaultFailure) in
          var notes = ContainerNotes(parsing: extra)
          notes[trait] = isSo ? now : nil
          extra = notes.bytes
        })
    } catch {}
  }

  /// One transport for each configuration, so that connections are kept and used again.
  func transport(_ configuration: ConnectionConfiguration) throws(SignetFailure) -> any HTTPTransport {
    if let known = transports.withLock({ $0[configuration] }) { return known }
    let made: any HTTPTransport
    do { made = try makeTransport(configuration) } catch { throw .transport(error) }
    return transports.withLock { transports in
      if let known = transports[configuration] { return known }
      transports[configuration] = made
      return made
    }
  }
}

extension PasswordChecks {
  /// The dictionary of the platform, and no further rules.
  public static var standard: PasswordChecks {
    #if os(Linux)
      PasswordChecks(dictionary: CrackLibDictionary())
    #else
      PasswordChecks()
    #endif
  }
}
