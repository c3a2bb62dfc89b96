import SignetCrypto
import SignetHTTPClient
import SignetPolicy
public import SignetProtocol
import SignetSystem
import SignetVault

/// The inputs for a new container.
public struct ContainerInitialization: Sendable {
  /// The activation code, scanned or typed.
  public var code: ActivationCode
  /// The user's name for this device, shown to the operator; at most 128 characters.
  public var deviceName: String
  /// The user's name for the container; may be empty.
  public var containerName: String
  /// Certificate authorities in PEM for this server, in place of the device's.
  public var certificateAuthoritiesPEM: String?

  /// Creates the inputs.
  public init(
    code: ActivationCode, deviceName: String = "", containerName: String = "",
    certificateAuthoritiesPEM: String? = nil
  ) {
    self.code = code
    self.deviceName = deviceName
    self.containerName = containerName
    self.certificateAuthoritiesPEM = certificateAuthoritiesPEM
  }
}

extension Device {
  /// Activates this device for a user and creates a new container, completely or not at all.
  ///
  /// An earlier container of the same user at the same server is replaced after the server has confirmed the new one. If
  /// the connection breaks after the container was stored, this throws, and ``finishActivations()`` continues later.
  ///
  /// - Parameters:
  ///   - initialization: The inputs.
  ///   - handler: Receives the progress and provides passwords.
  /// - Returns: The confirmed container.
  /// - Throws: ``SignetError``.
  public func createContainer(
    _ initialization: ContainerInitialization, handler: some ActivationHandler
  ) async throws(SignetError) -> Container {
    let code = initialization.code
    let settings = ServerTrust(
      certificateAuthoritiesPEM: initialization.certificateAuthoritiesPEM
        ?? connection.certificateAuthoritiesPEM,
      pins: code.pins)
    var session = try session(code.server, settings)
    // Validates the name before any request is sent.
    _ = try await description(named: initialization.deviceName)

    let (proved, chosen, binding) = try await retryingVoidHandshake {
      (prepared: inout NewKeys?) async throws(SignetError) in
      await handler.report(0.1, "Contacting \(code.server.shortForm)")
      let started = StartedActivation(code, random: random)
      let offered = try started.receive(await session.post("/v1/activation/start", started.start.bytes))
      try await requireCompliance(with: offered.profile.accountPolicies)
      let new: NewKeys
      if let prepared, prepared.profile == offered.profile {
        new = prepared
      } else {
        let chosen = try await protections(offered.profile, until: offered.answer.offer.expires, handler)
        await handler.report(0.3, "Making keys")
        new = NewKeys(
          profile: offered.profile, chosen: chosen, keys: try await makeKeys(for: offered.profile))
        prepared = new
      }
      if new.hasPrompted {
        forgetConnections()
        session = try self.session(code.server, settings)
      }
      let keys = new.keys
      let description = try await description(
        named: initialization.deviceName, keyOrigin: keys.signing.origin)
      let derivation = vault.derivation
      let proved = try await blocking.run { () -> Result<ProvedActivation, SignetError> in
        do throws(SignetError) {
          return .success(try offered.prove(device: description, keys: keys, by: derivation))
        } catch { return .failure(error) }
      }.get()

      await handler.report(0.5, "Proving the invite")
      let finish = try await proved.finish()
      return (
        proved, new.chosen,
        try proved.receive(
          await session.post("/v1/activation/finish", finish))
      )
    }

    await handler.report(0.7, "Storing the container")
    let draft = ContainerDraft(
      attributes: ContainerAttributes(
        userID: code.user.text, server: code.server.shortForm, name: initialization.containerName,
        serverID: code.server.fullForm, connection: settings, protocolParameters: binding.bytes),
      created: clock.now * 1000,
      domains: VaultLayout.domains(proved.keys, otpSecret: proved.otpSecret, proved.profile, chosen))
    let id = try await vaulted(await vault.addContainer(draft))

    await handler.report(0.9, "Confirming")
    let container = try await confirm(try await container(id), signedBy: proved.keys.session)
    await handler.report(1, "Activated")
    return container
  }

  /// Runs the steps up to *finish*, and runs them again if the server has lost the handshake.
  ///
  /// The cause is a restart of the server, or a user who took longer than the lifetime of a handshake.
  ///
  /// - Parameter body: Runs the steps. It receives the keys and passwords of the first run, for reuse if the server
  ///   offers the same profile.
  /// - Returns: The result of `body`.
  /// - Throws: The failure of the second run, or any other failure of the first.
  func retryingVoidHandshake<Value>(
    _ body: (inout NewKeys?) async throws(SignetError) -> Value
  ) async throws(SignetError) -> Value {
    var prepared: NewKeys?
    do throws(SignetError) { return try await body(&prepared) } catch {
      guard error.isVoidHandshake else { throw error }
    }
    return try await body(&prepared)
  }

  /// Continues activations and renewals that were interrupted after their container was stored.
  ///
  /// A container that the server knows is confirmed. A container that it does not know is deleted, and so is a renewal of
  /// a locked or wiped container. All are tried, so that one unreachable server does not block the others. A container
  /// whose session key has a password needs ``finishActivation(of:by:)``.
  ///
  /// - Returns: The containers that are confirmed now.
  /// - Throws: The first ``SignetError`` of a container that could not be finished, after all were tried; it stays for the next call.
  @discardableResult
  public func finishActivations() async throws(SignetError) -> [Container] {
    var confirmed: [Container] = []
    var firstFailure: SignetError?
    for container in try await unconfirmedContainers() {
      do throws(SignetError) {
        confirmed.append(try await finishActivation(of: container))
      } catch .containerUnknown {
        continue  // already deleted
      } catch .lockedOut {
        continue  // already deleted
      } catch .wiped {
        continue  // already deleted
      } catch {
        firstFailure = firstFailure ?? error
      }
    }
    if let firstFailure { throw firstFailure }
    return confirmed
  }

  /// Continues an activation or a renewal that was interrupted after its container was stored.
  ///
  /// - Parameters:
  ///   - container: One of ``unconfirmedContainers()``.
  ///   - authentication: The credential of its session key; `nil` if the device opens it alone.
  /// - Returns: The confirmed container.
  /// - Throws: ``SignetError``: `containerUnknown` if the server has dropped it, `lockedOut` or `wiped` if the
  ///   container that it renews is locked or wiped. In these cases it is deleted on this device too.
  @discardableResult
  public func finishActivation(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> Container {
    try await endIfActiveContainerIsLocked(container)
    return try await confirm(container, signedBy: sessionKey(of: container, by: authentication))
  }

  /// Deletes a renewal of a locked container; new keys would give an attacker who has used up the password attempts a new set of them.
  private func endIfActiveContainerIsLocked(_ container: Container) async throws(SignetError) {
    guard container.renewals > 0, let lock = try await lockOfActiveContainer(of: container) else { return }
    try await endStaged(container)
    throw lock
  }

  func confirm(
    _ container: Container, signedBy key: ContainerSigningKey
  ) async throws(SignetError) -> Container {
    try await endIfActiveContainerIsLocked(container)
    let session = try await session(container)
    do throws(SignetError) {
      let body = try await session.send(
        .post, "/v1/activation/confirm", ActivationConfirm(confirmation: container.confirmation).bytes,
        signedBy: key, container: container.serverContainerID)
      try StatusAnswer.check(body, is: "active")
    } catch {
      if case .containerUnknown = error {
        try await vaulted(await vault.discardContainer(container.id))
      }
      throw error
    }
    let isRenewal = container.renewals > 0
    try await vaulted(
      await vault.confirmContainer(container.id) {
        ContainerMetadata.carrying($0, over: $1, isRenewal: isRenewal)
      })
    return try await self.container(container.id)
  }

  func description(
    named name: String, keyOrigin: KeystoreKind = .software
  ) async throws(SignetError) -> DeviceDescription {
    let status = try await vaulted(await vault.keystoreStatus())
    do {
      return try DeviceDescription(
        id: vault.deviceID.bytes, name: name, platform: Self.platform,
        keystore: DeviceDescription.Keystore(status.kind), isSimulated: status.isSimulator,
        keyOrigin: DeviceDescription.Keystore(keyOrigin))
    } catch { throw .deviceNameRefused(error) }
  }

  package static var platform: String {
    #if os(Linux)
      "linux"
    #elseif os(macOS)
      "macos"
    #else
      "ios"
    #endif
  }

  /// Determines the protection of a new container and its keys; the handler is asked for a password if the server's
  /// policies require one.
  ///
  /// - Parameters:
  ///   - profile: The server's profile.
  ///   - present: In a renewal, the current passwords; each is kept if its new policy allows it.
  ///   - deadline: The time at which the operation expires, in seconds since 1970.
  ///   - handler: Provides the passwords.
  /// - Returns: The protection of the container and of each key with a separate one.
  /// - Throws: ``SignetError``.
  func protections(
    _ profile: ContainerProfile, keeping present: [Key.Usage?: PresentPassword]? = nil,
    until deadline: Int64, _ handler: some ActivationHandler
  ) async throws(SignetError) -> [Key.Usage?: ChosenProtection] {
    var chosen: [Key.Usage?: ChosenProtection] = [:]
    for key in profile.protected {
      let current = present?[key]
      let subject = PasswordRequest.Subject(key, isRenewal: present != nil)
      let protection: DomainDraft.Protection
      do throws(SignetError) {
        protection = try await self.protection(
          profile.protection(of: key), keeping: current?.password, subject: subject, until: deadline, handler)
      } catch { throw key.map(error.about) ?? error }
      var times: PasswordTimes?
      // A kept password also keeps its age.
      if case .password(let password, _) = protection, let current, password === current.password {
        times = current.times
      }
      chosen[key] = ChosenProtection(protection: protection, passwordTimes: times)
    }
    return chosen
  }

  private func protection(
    _ profilePolicy: ProtectionPolicy, keeping present: SharedSecretBox?, subject: PasswordRequest.Subject,
    until deadline: Int64, _ handler: some ActivationHandler
  ) async throws(SignetError) -> DomainDraft.Protection {
    let policy: PasswordPolicy
    let lock: LockPolicy
    switch await inForce(profilePolicy) {
    case .device: return .device
    case .password(let password, let locking), .biometricOrPassword(let password, let locking),
      .deviceLockOrPassword(let password, let locking):
      (policy, lock) = (password, locking)
    case .biometric, .devicePasscode:
      throw .unsupportedProfile(.invalid(member: "protection", reason: "is not for a container"))
    }
    if let present, try await violations(of: present, policy).isEmpty { return .password(present, lock) }
    let request = PasswordRequest(
      subject: subject, policy: policy, lockPolicy: lock, deadline: deadline)
    switch await handler.password(for: request) {
    case .cancel: throw .activationCancelled
    case .abort: throw .activationAborted
    case .proceed(let password):
      let violations = try await violations(of: password, policy)
      guard violations.isEmpty else { throw .passwordRefused(violations) }
      return .password(password, lock)
    }
  }

  private func violations(
    of password: SharedSecretBox, _ policy: PasswordPolicy
  ) async throws(SignetError) -> [PasswordViolation] {
    try await policy.violations(of: password, purpose: .enrolment, checks: passwordChecks)
  }
}

/// A container's profile, with the keys and protections that were made for it.
struct NewKeys: Sendable {
  let profile: ContainerProfile
  let chosen: [Key.Usage?: ChosenProtection]
  let keys: PrivateContainerKeys

  /// Indicates whether the user may have typed a password, which may have taken any time.
  var hasPrompted: Bool {
    chosen.values.contains { if case .password = $0.protection { true } else { false } }
  }
}

/// A current password.
struct PresentPassword: Sendable {
  let password: SharedSecretBox
  /// The time since when it has been in use; `nil` if unknown.
  let times: PasswordTimes?
}

extension PasswordRequest.Subject {
  fileprivate init(_ key: Key.Usage?, isRenewal: Bool) {
    self =
      switch key {
      case nil: isRenewal ? .renewedContainer : .container
      case let key?: isRenewal ? .renewedKey(key) : .key(key)
      }
  }
}

extension DeviceDescription.Keystore {
  /// Creates the protocol's name for a kind of keystore.
  fileprivate init(_ kind: KeystoreKind) {
    switch kind {
    case .software: self = .software
    case .tpm2: self = .tpm2
    }
  }
}

extension ActivationHandler {
  func report(_ fraction: Double, _ message: String) async {
    await progressed(to: ActivationProgress(fraction: fraction, message: message))
  }
}
