import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetVault

/// The result of a report to a container's server, after the server's commands were carried out.
public enum AccountReportOutcome: Sendable, Hashable {
  /// The server accepted the report; the container's policies and locks now.
  case reported(AccountStatus)
  /// The server had ordered the deletion of the container; it is deleted, and the acknowledgement is sent or queued.
  case wiped
}

extension Device {
  /// Reports the condition of this device to a container's server and carries out its answer: policies, locks, unlocks or deletion.
  ///
  /// Each command is on the disk together with a signed acknowledgement before the server receives anything. An interruption
  /// therefore neither repeats nor loses a command. The live channel calls this by itself whenever the server asks for it.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The result.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func reportCondition(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> AccountReportOutcome {
    try await reportCondition(of: container, signedBy: sessionKey(of: container, by: authentication))
  }

  func reportCondition(
    of container: Container, signedBy key: ContainerSigningKey
  ) async throws(SignetError) -> AccountReportOutcome {
    let session = try await session(container)
    var status = try await ask(session, "{}", container, key)
    guard try await apply(status, to: container, key) else {
      try await sendAcknowledgements(to: container.server.shortForm)
      return .wiped
    }
    // Sent before the report, so that the report tells the server that no command is pending.
    try await sendAcknowledgements(to: container.server.shortForm)
    let report = try await evidenceReport(of: container, answering: status, key)
    let body: JSONObject = ["report": .string(report)]
    status = try await ask(session, String(decoding: body.bytes, as: UTF8.self), container, key)
    let isPresent = try await apply(status, to: container, key)
    try await sendAcknowledgements(to: container.server.shortForm)
    guard isPresent else { return .wiped }
    return .reported(try await accountStatus(of: container))
  }

  private func ask(
    _ session: ServerSession, _ body: String, _ container: Container, _ key: ContainerSigningKey
  ) async throws(SignetError) -> DeviceStatus {
    let (answer, id) = try await session.exchange(
      .post, "/v1/device/condition", Array(body.utf8), signedBy: key, container: container.serverContainerID)
    let signed: SignedDeviceStatus
    do { signed = try SignedDeviceStatus(String(decoding: answer.body, as: UTF8.self)) } catch {
      throw .unexpectedAnswer(status: answer.status)
    }
    let serverKey = try await serverKey(called: signed.signer, of: container, session)
    let address = ListAddress(server: container.server, container: container.serverContainerID, request: id)
    let status: DeviceStatus
    do { status = try signed.condition(signedBy: serverKey, for: address) } catch {
      if case .notAuthentic = error { throw .unexpectedAnswer(status: answer.status) }
      // The server's answer contains a demand that this version does not know.
      throw .unsupportedProfile(error)
    }
    await record(.otherServerKey, false, of: container)
    return status
  }

  private func evidenceReport(
    of container: Container, answering status: DeviceStatus, _ key: ContainerSigningKey
  ) async throws(SignetError) -> String {
    let state = try await evaluated(container)
    let evidence = await evidence(for: state, since: container.created, isOfServer: true)
    let report = PostureReport(
      container: container.serverContainerID, server: container.server, device: vault.deviceID.bytes,
      challenge: status.challenge, time: clock.now, revision: state.revision, evidence: evidence,
      lock: state.lock)
    return try await report.signed { (message) async throws(SignetError) in
      try await vaulted(await key.signature(of: message))
    }
  }

  /// Carries out a server's answer; an answer with an older revision is ignored, because answers may arrive out of order.
  ///
  /// - Returns: False if the container was deleted.
  private func apply(
    _ status: DeviceStatus, to container: Container, _ key: ContainerSigningKey
  ) async throws(SignetError) -> Bool {
    let state = try await accountState(of: container.id)
    guard status.revision >= state.revision else { return true }
    let stored = try await vaulted(await vault.container(container.id))
    let now = clock.now
    let isWipe = status.orders.contains { $0.action == .wipe }
    // A repeated answer changes nothing; the acknowledgements of its commands are already queued.
    guard isWipe || status.revision > state.revision else { return true }
    var drafts: [NoticeDraft] = []
    for command in status.orders {
      drafts.append(
        QueuedAcknowledgement.draft(
          try await acknowledgement(of: command, container, key), of: stored, at: now))
    }
    let (acknowledgements, profile, time) = (drafts, container.profile.accountPolicies, vault.clock.now)
    if isWipe {
      try await wipe(container, leaving: acknowledgements)
      return false
    }
    try await change(container.id, isCounted: true, leaving: acknowledgements) {
      (state) throws(SignetError) in
      // Another process may have applied a newer answer in the meantime.
      guard status.revision > state.revision else { return }
      state.revision = status.revision
      state.set(status.policies, inPlaceOf: state.policies ?? profile, at: time)
      state.stepUpReason = status.compliance == .stepUp ? status.reason : nil
      let since = state.lock.server?.since ?? now
      state.lock.setServer(
        status.compliance == .locked ? AccountLock.Order(reason: status.reason, since: since) : nil)
    }
    return true
  }

  private func acknowledgement(
    of command: DeviceCommand, _ container: Container, _ key: ContainerSigningKey
  ) async throws(SignetError) -> String {
    let acknowledgement = CommandAcknowledgement(
      container: container.serverContainerID, server: container.server, device: vault.deviceID.bytes,
      order: command.id, action: command.action, time: clock.now)
    return try await acknowledgement.signed { (message) async throws(SignetError) in
      try await vaulted(await key.signature(of: message))
    }
  }

  /// Deletes a container with its keys, the UAF keys of its user at its server, and unconfirmed replacements.
  private func wipe(
    _ container: Container, leaving acknowledgements: [NoticeDraft]
  ) async throws(SignetError) {
    // Deleted before the container, because its lock protects these keys.
    try await deleteUAFKeys(of: container.user, at: container.server)
    for staged in try await unconfirmedContainers()
    where staged.user == container.user && staged.server == container.server {
      try await vaulted(await vault.deleteContainer(staged.id))
    }
    do throws(VaultFailure) {
      try await vault.deleteContainer(container.id, leaving: acknowledgements)
    } catch {
      // If the queue of notices is full, the keys are deleted without one; the server notices when its requests fail.
      guard case .invalidDraft = error else { throw SignetError(error) }
      try await vaulted(await vault.deleteContainer(container.id))
    }
    clearPasswordCache()
    lockObservers.forget(.container(container.id))
  }

  // MARK: Acknowledgements

  /// Sends the queued acknowledgements; a failed one is retried later, with the waits of end notices.
  ///
  /// - Parameters:
  ///   - server: The server whose acknowledgements are sent now, regardless of their wait; `nil` for all servers.
  ///   - isEarly: True to ignore the wait.
  /// - Throws: ``SignetError`` of the vault.
  package func sendAcknowledgements(
    to server: String? = nil, evenIfEarly isEarly: Bool = false
  ) async throws(SignetError) {
    for acknowledgement in try await storedNotices().compactMap({ QueuedAcknowledgement($0) }) {
      let now = clock.now
      if acknowledgement.isExpired(at: now) {
        try await vaulted(await vault.removeNotice(acknowledgement.id))
        continue
      }
      guard server == nil ? isEarly || acknowledgement.isDue(at: now) : acknowledgement.server == server
      else { continue }
      do throws(SignetError) {
        try await deliver(acknowledgement)
        try await vaulted(await vault.removeNotice(acknowledgement.id))
      } catch {
        try await vaulted(
          await vault.postponeNotice(acknowledgement.id, notBefore: acknowledgement.retry(after: now)))
      }
    }
  }

  private func deliver(_ acknowledgement: QueuedAcknowledgement) async throws(SignetError) {
    let server: ServerURL
    do { server = try ServerURL(acknowledgement.server) } catch { throw .vault(.damaged) }
    do throws(SignetError) {
      let body = try await session(server, acknowledgement.connection).post(
        "/v1/device/orders", acknowledgement.body)
      try StatusAnswer.check(body, is: "received")
    } catch .containerUnknown {
      return  // the server needs no acknowledgement any more
    }
  }
}
