public import SignetCrypto
public import SignetHTTPClient
import SignetIdentifiers
import SignetJSON
public import SignetPolicy
import SignetUAF
public import SignetVault

/// A client of FIDO UAF 1.1, with its ASM and authenticators, over the vault of a device.
///
/// ```swift
/// let client = UAFClient(device: device, facetID: "linux:app-id:org.example.bank")
/// guard case .registration(let registration) = try await client.open(message) else { … }
/// let response = try await registration.register([
///   UAFEnrolment(aaid: registration.combinations[0][0].authenticator.aaid, authentication: .password(pin))
/// ])
/// ```
///
/// It contacts only the servers of trusted facet lists; the caller transports requests and responses. Any number of
/// clients, in any number of processes, may use one device.
public final class UAFClient: Sendable {
  /// The facet ID of this app, for servers and for keys; only the caller that had a key made can use it.
  public let facetID: String
  /// The device whose vault keeps the keys.
  let device: Device
  /// The authenticators, which verify the user, make keys and sign.
  package let authenticators: UAFAuthenticators
  /// The ASM between the client and the authenticators.
  package let module: ASM
  let facets: FacetLists?
  let acceptsOlderFacetLists: Bool

  /// The supported versions of the protocol, newest first.
  static let versions: [UAFVersion] = [.v1_1]

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - device: The device: its vault keeps the keys, and its fingerprint and passcode gates verify the user.
  ///   - facetID: The facet ID of this app: `linux:app-id:…`, `ios:bundle-id:…` or an `https` origin. A server must trust it.
  ///   - face: The gate that matches faces; without it, the face authenticator is not supported.
  ///   - facetTransport: The transport for trusted facet lists; by default libcurl with the device's settings.
  ///   - acceptsOlderFacetLists: True to accept an entry for an older version if a list has none for the message's version.
  public init(
    device: Device, facetID: String, face: (any BiometricGate)? = nil,
    facetTransport: (any HTTPTransport)? = nil, acceptsOlderFacetLists: Bool = false
  ) {
    self.facetID = facetID
    self.device = device
    self.acceptsOlderFacetLists = acceptsOlderFacetLists
    authenticators = UAFAuthenticators(
      store: UAFKeyStore(vault: device.vault, clock: device.clock), fingerprint: device.biometrics,
      face: face,
      passcode: device.passcode,
      requireIntegrity: { () async throws(SignetError) in try await device.requireIntegrity() })
    module = ASM(authenticators: authenticators, callerID: facetID)
    var transport = facetTransport
    if transport == nil {
      // With invalid connection settings no list can be fetched; the failure is reported when a list is needed.
      do throws(SignetError) { transport = try device.transport(device.connection) } catch {}
    }
    facets = transport.map { FacetLists($0, clock: device.vault.clock) }
  }

  // MARK: Authenticators and keys

  /// Returns all authenticators in a fixed order, including those that this device does not support.
  ///
  /// - Returns: PIN, password, fingerprint, face and device passcode.
  /// - Throws: ``SignetError``.
  public func authenticators() async throws(SignetError) -> [UAFAuthenticator] {
    let keys = try await keys()
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

  /// Returns all keys of this app on this device, oldest first.
  ///
  /// - Throws: ``SignetError``.
  public func keys() async throws(SignetError) -> [UAFKey] {
    do throws(VaultFailure) { return try await module.keys().map(\.key) } catch {
      throw SignetError(error)
    }
  }

  /// Returns the lock status of a key: attempts left, a wait, or locked.
  ///
  /// - Parameter key: The key.
  /// - Returns: The status.
  /// - Throws: ``SignetError``: `KEY_DISAPPEARED_PERMANENTLY` if there is no such key.
  public func protectionStatus(of key: UAFKey) async throws(SignetError) -> LockStatus {
    do throws(UAFFailure) { return try await lockStatus(of: key) } catch { throw error.signetError }
  }

  /// Returns the lock status of a key.
  func lockStatus(of key: UAFKey) async throws(UAFFailure) -> LockStatus {
    let (keyID, aaid) = try await present(key)
    do throws(VaultFailure) { return try await authenticators.protectionStatus(of: keyID) } catch {
      throw UAFFailure(error, aaid)
    }
  }

  /// Changes the PIN or the password of a key on this device; no server is involved.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - old: The current PIN or password; a wrong one counts as a failed attempt.
  ///   - new: The new PIN or password.
  /// - Throws: ``SignetError``: `wrongCredential`, `coolingDown`, `credentialRefused`, `USER_LOCKOUT`, and
  ///   `AUTHENTICATOR_ACCESS_DENIED` for a key without a PIN or password.
  public func changeSecret(
    of key: UAFKey, from old: SharedSecretBox, to new: SharedSecretBox
  ) async throws(SignetError) {
    do throws(UAFFailure) { try await replaceSecret(of: key, from: old, to: new) } catch {
      throw error.signetError
    }
  }

  /// Changes the PIN or the password of a key on this device.
  func replaceSecret(
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
        to: new.withSecret { $0.copy() }, policy: Self.anyNewPassword)
    } catch {
      if case .passwordUsedBefore = error { throw .unusableSecret(aaid: aaid.text, .sameAsBefore) }
      throw await authenticators.failure(error, of: keyID, aaid)
    }
  }

  /// Deletes a key on this device only; a missing key is not an error.
  ///
  /// - Parameter key: The key.
  /// - Throws: ``SignetError``.
  public func delete(_ key: UAFKey) async throws(SignetError) { try await delete([key]) }

  /// Deletes keys on this device, all or none; missing keys are ignored.
  func delete(_ keys: [UAFKey]) async throws(SignetError) {
    do throws(VaultFailure) {
      let present = try await module.keys().filter { keys.contains($0.key) }
      try await authenticators.store.delete(present.map(\.keyID))
    } catch { throw SignetError(error) }
  }

  /// Returns a description of this client, as JSON text of `DiscoveryData`.
  ///
  /// - Returns: The text.
  /// - Throws: ``SignetError``.
  public func discover() async throws(SignetError) -> String {
    let outcome = await module.handle(ASMRequest(.getInfo, authenticatorIndex: nil))
    guard case .info(let list) = outcome.response.payload else { throw Self.failure(outcome).signetError }
    return DiscoveryData(
      supportedVersions: Self.versions, clientVendor: "Signet", clientVersion: UAFVersion(major: 1, minor: 0),
      availableAuthenticators: list.map { DiscoveredAuthenticator($0.features) }
    ).json.text
  }

  /// Checks that a request could be answered, without asking the user.
  ///
  /// - Parameter message: The request, in the form that ``open(_:from:channelBinding:)`` reads.
  /// - Throws: ``SignetError``: the errors of ``open(_:from:channelBinding:)``.
  public func checkPolicy(_ message: String) async throws(SignetError) { _ = try await open(message) }

  /// Returns whether a container of the vault is the one for the UAF keys of all apps, not a container of a server.
  ///
  /// - Parameters:
  ///   - container: The identifier of a container, such as that of a ``LostCredential``.
  ///   - device: The device with the vault.
  /// - Returns: True if the container holds the UAF keys.
  /// - Throws: ``SignetError``.
  public static func storesKeys(
    in container: LocalContainerID, of device: Device
  ) async throws(SignetError) -> Bool {
    try await vaulted(await device.vault.uafContainer()) == container
  }

  // MARK: Module and failures

  /// The ASM for the requests of one server.
  func module(for server: String?) -> ASM {
    ASM(authenticators: authenticators, callerID: facetID, server: server)
  }

  /// Waits until no other response of this vault is on its way to a server, and returns the lock that keeps it so.
  func counterLock() async throws(UAFFailure) -> FolderLock {
    do throws(VaultFailure) { return try await authenticators.vault.counterLock() } catch {
      throw .device(SignetError(error))
    }
  }

  /// The key ID and the AAID of a key, if this caller has it on the device.
  private func present(_ key: UAFKey) async throws(UAFFailure) -> (KeyID, AAID) {
    let keys: [ASM.NamedKey]
    do throws(VaultFailure) { keys = try await module.keys() } catch { throw .device(SignetError(error)) }
    guard let found = keys.first(where: { $0.key == key }), let aaid = AAID(key.aaid) else {
      throw .protocol(.keyDisappearedPermanently, "there is no such key on this device")
    }
    return (found.keyID, aaid)
  }

  /// Converts a failed ASM outcome to a failure of the client.
  static func failure(_ outcome: ASMOutcome) -> UAFFailure {
    let status = outcome.response.status
    if status == .error, let failure = outcome.failure { return .device(SignetError(failure)) }
    let detail = outcome.failure?.description ?? "the authenticator answers with status \(status.rawValue)"
    return .protocol(status.clientError, detail)
  }

  /// A policy that accepts any password but the current one.
  private static let anyNewPassword: PasswordPolicy = {
    do {
      return try PasswordPolicy(
        minimumLength: 1, maximumLength: 256, allowsSequences: true, maximumHistory: 1)
    } catch { preconditionFailure("the rules contradict each other") }
  }()
}
