public import SignetCrypto
import SignetJSON
public import SignetPolicy
public import SignetTransport
import SignetUAF
public import SignetVault

/// A client of FIDO UAF 1.1, with the module and the authenticators below it, over the vault of a device.
///
/// ```swift
/// let client = UAFClient(device: device, facetID: "linux:app-id:org.example.bank")
/// guard case .registration(let registration) = try await client.open(message) else { … }
/// let response = try await registration.register([
///   UAFEnrolment(aaid: registration.combinations[0][0].authenticator.aaid, authentication: .password(pin))
/// ])
/// ```
///
/// It talks to no server but those of trusted facet lists; requests and responses are the caller's to carry. Any number of clients
/// may work over one device, in any number of processes.
public final class UAFClient: Sendable {
  /// Who this app is, to servers and to the keys: only the caller that had a key made can use it.
  public let facetID: String
  /// What the client is over.
  let device: Device
  /// What verifies the user, makes keys and signs.
  package let authenticators: UAFAuthenticators
  /// What stands between the client and the authenticators.
  package let module: UAFModule
  let facets: FacetLists?
  let takesOlderFacetLists: Bool

  /// The versions of the protocol that are spoken, the newest first.
  static let versions: [UAFVersion] = [.v1_1]

  /// Opens a client.
  ///
  /// - Parameters:
  ///   - device: Its vault keeps the keys; what it matches fingers and checks its passcode with is used.
  ///   - facetID: Who this app is: `linux:app-id:…`, `ios:bundle-id:…`, or an `https` origin. A server has to trust it.
  ///   - face: What matches faces; without it, this device cannot.
  ///   - facetTransport: What fetches lists of trusted facets; libcurl with the device's settings unless told otherwise.
  ///   - takesOlderFacetLists: Whether a list without an entry for the message's version will do with one for an older version.
  public init(
    device: Device, facetID: String, face: (any BiometricGate)? = nil,
    facetTransport: (any HTTPTransport)? = nil, takesOlderFacetLists: Bool = false
  ) {
    (self.facetID, self.device) = (facetID, device)
    self.takesOlderFacetLists = takesOlderFacetLists
    authenticators = UAFAuthenticators(
      store: UAFKeyStore(vault: device.vault, clock: device.clock), fingerprint: device.biometrics,
      face: face,
      passcode: device.passcode,
      requireIntegrity: { () async throws(SignetFailure) in try await device.requireIntegrity() })
    module = UAFModule(authenticators: authenticators, callerID: facetID)
    var transport = facetTransport
    if transport == nil {
      // Settings that are refused leave no way to fetch a list, which is told when one is needed.
      do throws(SignetFailure) { transport = try device.transport(device.connection) } catch {}
    }
    facets = transport.map { FacetLists($0, clock: device.vault.clock) }
  }

  // MARK: What there is

  /// All authenticators in a fixed order, whether or not they are of use on this device.
  ///
  /// - Returns: PIN, password, fingerprint, face and device passcode.
  /// - Throws: ``UAFFailure/device(_:)``.
  public func authenticators() async throws(UAFFailure) -> [UAFAuthenticator] {
    do throws(SignetFailure) { return try await ownAuthenticators() } catch { throw .device(error) }
  }

  func ownAuthenticators() async throws(SignetFailure) -> [UAFAuthenticator] {
    let keys = try await ownKeys()
    var list: [UAFAuthenticator] = []
    for kind in UAFAuthenticator.Kind.allCases {
      let (isSupported, isEnrolled) = await authenticators.availability(of: kind)
      list.append(
        UAFAuthenticator(
          kind: kind, aaid: authenticators.aaid(of: kind).text, title: kind.model.title,
          isSupportedByHardware: isSupported, isEnrolledInSystem: isEnrolled,
          keys: keys.filter { $0.kind == kind }))
    }
    return list
  }

  /// All keys on this device that this app has, oldest first.
  ///
  /// - Throws: ``UAFFailure/device(_:)``.
  public func keys() async throws(UAFFailure) -> [UAFKey] {
    do throws(SignetFailure) { return try await ownKeys() } catch { throw .device(error) }
  }

  func ownKeys() async throws(SignetFailure) -> [UAFKey] {
    do throws(VaultFailure) { return try await module.keys().map(\.key) } catch {
      throw SignetFailure(error)
    }
  }

  /// What there is to tell about the lock of a key: tries that are left, a wait, or that it is locked.
  ///
  /// - Parameter key: Which key.
  /// - Returns: The status.
  /// - Throws: ``UAFFailure``: `KEY_DISAPPEARED_PERMANENTLY` where there is no such key.
  public func protectionStatus(of key: UAFKey) async throws(UAFFailure) -> LockStatus {
    let (keyID, aaid) = try await present(key)
    do throws(VaultFailure) { return try await authenticators.protectionStatus(of: keyID) } catch {
      throw UAFFailure(error, aaid)
    }
  }

  /// Changes the PIN or the password of a key; nothing is told to a server.
  ///
  /// - Parameters:
  ///   - key: Which key.
  ///   - old: The present one: a wrong one counts as any other.
  ///   - new: The next one.
  /// - Throws: ``UAFFailure``: `wrongSecret`, `coolingDown`, `unusableSecret`, `USER_LOCKOUT`, and
  ///   `AUTHENTICATOR_ACCESS_DENIED` for a key without a PIN or password.
  public func changeSecret(
    of key: UAFKey, from old: SharedSecretBox, to new: SharedSecretBox
  ) async throws(UAFFailure) {
    let (keyID, aaid) = try await present(key)
    try await requireUnlocked(key.username, at: key.server)
    guard key.kind.hasOwnSecret else {
      throw .protocol(.authenticatorAccessDenied, "this authenticator has no PIN or password of its own")
    }
    if let problem = UAFAuthenticators.problem(of: new, for: key.kind) {
      throw .unusableSecret(aaid: aaid.text, problem)
    }
    let vault = authenticators.vault
    do throws(VaultFailure) {
      guard let id = try await vault.uafContainer() else { throw .noSuchRecord(name: key.keyID) }
      try await vault.changePassword(
        of: StoredUAFKey.domain(keyID), in: id, from: old.withSecret { $0.copy() },
        to: new.withSecret { $0.copy() }, policy: Self.anyOther)
    } catch {
      if case .passwordUsedBefore = error { throw .unusableSecret(aaid: aaid.text, .sameAsBefore) }
      throw await authenticators.failure(error, of: keyID, aaid)
    }
  }

  /// Deletes a key on this device, and nowhere else; nothing happens if it is gone.
  ///
  /// - Parameter key: Which key.
  /// - Throws: ``UAFFailure/device(_:)``.
  public func delete(_ key: UAFKey) async throws(UAFFailure) {
    do throws(SignetFailure) { try await delete([key]) } catch { throw .device(error) }
  }

  /// Deletes keys on this device, all or none; those that are gone do not matter.
  func delete(_ keys: [UAFKey]) async throws(SignetFailure) {
    do throws(VaultFailure) {
      let present = try await module.keys().filter { keys.contains($0.key) }
      try await authenticators.store.delete(present.map(\.keyID))
    } catch { throw SignetFailure(error) }
  }

  /// What this client is, as JSON text of `DiscoveryData`.
  ///
  /// - Returns: The text.
  /// - Throws: ``UAFFailure/device(_:)``.
  public func discover() async throws(UAFFailure) -> String {
    let outcome = await module.handle(ASMRequest(.getInfo, authenticatorIndex: nil))
    guard case .info(let list) = outcome.response.payload else { throw Self.failure(outcome) }
    return DiscoveryData(
      supportedVersions: Self.versions, clientVendor: "Signet", clientVersion: UAFVersion(major: 1, minor: 0),
      availableAuthenticators: list.map { DiscoveredAuthenticator($0.features) }
    ).json.text
  }

  /// Finds out whether a request could be answered, without asking the user anything.
  ///
  /// - Parameter message: The request, as for ``open(_:channelBinding:)``.
  /// - Throws: ``UAFFailure``, as ``open(_:channelBinding:)`` does.
  public func checkPolicy(_ message: String) async throws(UAFFailure) { _ = try await open(message) }

  /// Whether a container of the vault is where the keys of all apps lie, and no server's.
  ///
  /// - Parameters:
  ///   - container: The name of a container, such as that of a ``LostCredential``.
  ///   - device: Whose vault.
  /// - Returns: Whether it is.
  /// - Throws: ``SignetFailure``.
  public static func keys(
    lieIn container: ContainerID, of device: Device
  ) async throws(SignetFailure) -> Bool {
    try await vaulted(await device.vault.uafContainer()) == container
  }

  // MARK: Below

  /// The module, for what a server asks.
  func module(for server: String?) -> UAFModule {
    UAFModule(authenticators: authenticators, callerID: facetID, server: server)
  }

  /// Waits until no other response of this vault is on its way to a server.
  func counterTurn() async throws(UAFFailure) -> FolderLock {
    do throws(VaultFailure) { return try await authenticators.vault.counterTurn() } catch {
      throw .device(SignetFailure(error))
    }
  }

  /// The names of a key that is there, and this caller's.
  private func present(_ key: UAFKey) async throws(UAFFailure) -> (KeyID, AAID) {
    let keys: [UAFModule.NamedKey]
    do throws(VaultFailure) { keys = try await module.keys() } catch { throw .device(SignetFailure(error)) }
    guard let found = keys.first(where: { $0.key == key }), let aaid = AAID(key.aaid) else {
      throw .protocol(.keyDisappearedPermanently, "there is no such key on this device")
    }
    return (found.keyID, aaid)
  }

  /// What the client says of what its module says.
  static func failure(_ outcome: ASMOutcome) -> UAFFailure {
    let status = outcome.response.status
    if status == .error, let failure = outcome.failure { return .device(SignetFailure(failure)) }
    let detail = outcome.failure?.description ?? "the authenticator answers with status \(status.rawValue)"
    return .protocol(status.clientError, detail)
  }

  /// Any password but the present one.
  private static let anyOther: PasswordPolicy = {
    do {
      return try PasswordPolicy(
        minimumLength: 1, maximumLength: 256, allowsSequences: true, maximumHistory: 1)
    } catch { preconditionFailure("the rules contradict each other") }
  }()
}
