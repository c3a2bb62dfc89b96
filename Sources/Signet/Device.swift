public import SignetCrypto
public import SignetHTTPClient
public import SignetIntegrity
public import SignetPolicy
import SignetProtocol
public import SignetSystem
public import SignetVault
import Synchronization

/// An installation of Signet: its containers and all operations on them.
///
/// Any number of devices, in any number of processes, may be opened on one folder.
public final class Device: Sendable {
  /// Creates the transport for requests to a server.
  public typealias TransportFactory =
    @Sendable (ConnectionConfiguration) throws(TransportFailure) -> any HTTPTransport

  /// The connection settings; a container's own certificate authorities and pins replace those here.
  public let connection: ConnectionConfiguration
  package let vault: Vault
  package let clock: any WallClock
  package let random: any RandomSource
  let blocking = BlockingExecutor(label: "signet.device")
  let passwordCaches = Mutex<[LocalContainerID: CachedSecret<UnlockedDomain>]>([:])
  package let passwordChecks: PasswordChecks
  package let biometrics: (any BiometricGate)?
  package let passcode: (any DevicePasscode)?
  /// The evaluation of policies of containers and accounts.
  public let accountPolicies: AccountPolicies
  let evidenceCollector: AccountEvidenceCollector
  let lockObservers = AccountLockObservers()
  /// The check for tampering before a credential opens anything; `nil` if the app has set none.
  let integrity: IntegrityGate?
  let sessions = OpenSessions()
  private let makeTransport: TransportFactory
  private let transports = Mutex<[ConnectionConfiguration: any HTTPTransport]>([:])

  /// Creates a device over a vault.
  ///
  /// - Parameters:
  ///   - vault: The vault with the containers.
  ///   - connection: The connection settings: time-out (30 s), retries (0), certificate authorities.
  ///   - clock: The clock for the times in messages to servers.
  ///   - random: The source of nonces and IDs.
  ///   - passwordChecks: The checks of new passwords in addition to the server's policy: the dictionary and the app's own rules.
  ///   - biometrics: The gate that matches fingers or faces: `FprintGate()` on Linux. Without one, biometrics are not supported.
  ///   - passcode: The gate that checks the device passcode: `PAMPasscode()` on Linux. Without one, the passcode is not supported.
  ///   - accountPolicies: The evaluation of policies of containers and accounts, with the app's own policies, its version
  ///     and its sources of evidence about tampering.
  ///   - integrity: Checks for tampering each time a credential opens anything, and reacts. Without it there is no check.
  ///   - transport: Creates the transport for requests; libcurl by default.
  public init(
    vault: Vault, connection: ConnectionConfiguration = ConnectionConfiguration(),
    clock: any WallClock = SystemWallClock(), random: any RandomSource = SystemRandomSource(),
    passwordChecks: PasswordChecks = PasswordChecks(),
    biometrics: (any BiometricGate)? = nil, passcode: (any DevicePasscode)? = nil,
    accountPolicies: AccountPolicies = AccountPolicies(), integrity: IntegrityGate? = nil,
    transport: @escaping TransportFactory = { (configuration) throws(TransportFailure) in
      try CurlTransport(configuration)
    }
  ) {
    self.vault = vault
    self.connection = connection
    self.clock = clock
    self.random = random
    self.passwordChecks = passwordChecks
    self.biometrics = biometrics
    self.passcode = passcode
    self.accountPolicies = accountPolicies
    self.integrity = integrity
    let builtIn = Self.builtInSources(
      vault: vault, biometrics: biometrics, passcode: passcode, appVersion: accountPolicies.appVersion)
    evidenceCollector = AccountEvidenceCollector(builtIn + accountPolicies.sources)
    makeTransport = transport
  }

  /// The kind of keystore that protects this device's secrets; it is reported to servers.
  public var keystoreKind: KeystoreKind { vault.keystoreKind }

  // MARK: Containers

  /// Returns the confirmed containers that match a filter, oldest first.
  ///
  /// - Throws: ``SignetError``.
  public func containers(
    matching filter: ContainerFilter = ContainerFilter()
  ) async throws(SignetError) -> [Container] {
    try await stored(filter, state: .active)
  }

  /// Returns the containers that the server has not confirmed yet; ``finishActivations()`` continues them.
  ///
  /// - Throws: ``SignetError``.
  public func unconfirmedContainers() async throws(SignetError) -> [Container] {
    try await stored(ContainerFilter(), state: .unconfirmed)
  }

  /// Returns the container with an ID on this device.
  ///
  /// - Throws: ``SignetError/noSuchContainer``.
  public func container(_ id: LocalContainerID) async throws(SignetError) -> Container {
    try await Container(vaulted(await vault.container(id)))
  }

  private func stored(
    _ filter: ContainerFilter, state: StoredContainer.State
  ) async throws(SignetError) -> [Container] {
    let vaultFilter = StoredContainerFilter(
      userID: filter.user?.text, server: filter.server?.shortForm, state: state)
    var containers: [Container] = []
    for stored in try await vaulted(await vault.containers(matching: vaultFilter)) {
      let container = try Container(stored)
      if let name = filter.name, !container.name.hasSameBytes(as: name) { continue }
      containers.append(container)
    }
    return containers
  }

  // MARK: Sessions

  func session(
    _ server: ServerURL, _ settings: ServerTrust
  ) throws(SignetError) -> ServerSession {
    var configuration = connection
    if let authorities = settings.certificateAuthoritiesPEM {
      configuration.certificateAuthoritiesPEM = authorities
    }
    if !settings.pins.isEmpty { configuration.pins = settings.pins }
    return ServerSession(
      server: server, transport: try transport(configuration), clock: clock, random: random)
  }

  /// Makes later sessions use new connections.
  ///
  /// While the user answered a question, the server may have closed the old connections, and no request is sent twice.
  func forgetConnections() { transports.withLock { $0 = [:] } }

  package func session(_ container: Container) async throws(SignetError) -> ServerSession {
    let stored = try await vaulted(await vault.container(container.id))
    var session = try session(container.server, stored.attributes.connection)
    session.onAnswer = { isKnown in await self.recordAnswer(isKnown, of: container) }
    return session
  }

  /// Stores a contact with the server, and whether the server knows the container.
  ///
  /// A failure to store them is ignored, because the next request repeats the observation.
  private func recordAnswer(_ isKnown: Bool, of container: Container) async {
    do throws(SignetError) {
      let metadata = try await metadata(of: container.id)
      if isKnown { try await recordContact(of: container, metadata.account()) }
      try await record(.unknownToServer, !isKnown, of: container, metadata)
    } catch {}
  }

  /// Stores whether an observation about a container applies, and since when.
  ///
  /// A failure to store it is ignored, because the next request repeats the observation.
  func record(_ trait: ContainerMetadata.Trait, _ applies: Bool, of container: Container) async {
    do throws(SignetError) {
      try await record(trait, applies, of: container, metadata(of: container.id))
    } catch {}
  }

  private func record(
    _ trait: ContainerMetadata.Trait, _ applies: Bool, of container: Container, _ metadata: ContainerMetadata
  ) async throws(SignetError) {
    guard applies == (metadata[trait] == nil) else { return }
    let now = clock.now
    try await vaulted(
      await vault.changeExtra(of: container.id, isCounted: false) { (extra) throws(VaultFailure) in
        var metadata = ContainerMetadata(parsing: extra)
        metadata[trait] = applies ? now : nil
        extra = metadata.bytes
      })
  }

  /// Reads the observations about a container and the state of its policies and locks.
  func metadata(of id: Container.ID) async throws(SignetError) -> ContainerMetadata {
    let stored = try await vaulted(await vault.container(id))
    return ContainerMetadata(parsing: stored.attributes.extra)
  }

  /// Returns the transport for a configuration; it is cached, so that connections are reused.
  package func transport(_ configuration: ConnectionConfiguration) throws(SignetError) -> any HTTPTransport {
    if let existing = transports.withLock({ $0[configuration] }) { return existing }
    let made: any HTTPTransport
    do { made = try makeTransport(configuration) } catch { throw .transport(error) }
    return transports.withLock { transports in
      if let existing = transports[configuration] { return existing }
      transports[configuration] = made
      return made
    }
  }
}
