import SignetCrypto
import SignetProtocol
public import SignetVault

extension Device {
  /// Deletes a container with all its keys immediately, and notifies its server now or later.
  ///
  /// The container's session key signs the notice. It is stored in the transaction of the deletion, and no key is kept
  /// for it. If the server cannot be reached, ``sendQueuedNotices(evenIfEarly:)`` sends it later. An unconfirmed renewal
  /// is deleted too. With a locked container, the FIDO UAF keys of its user at its server are deleted too.
  ///
  /// - Parameters:
  ///   - id: The container; also an unconfirmed or altered one.
  ///   - reason: The reason for the operator's audit log, free text of at most 1,000 characters without a line feed.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone. If the session key has a
  ///     password, `nil` deletes the container without a notice to its server.
  /// - Returns: The state of the notice.
  /// - Throws: ``SignetError``: `noSuchContainer`, `reasonRefused`, a failure to open the session key with the given
  ///   credential, or a keystore that is busy or does not answer; nothing was deleted then.
  @discardableResult
  public func deleteContainer(
    _ id: LocalContainerID, reason: String = "", by authentication: Authentication? = nil
  ) async throws(SignetError) -> NoticeOutcome {
    let stored: StoredContainer
    do { stored = try await vault.container(id) } catch {
      // The attributes of an altered container cannot be trusted, including the address of its server.
      guard case .altered(.container) = error else { throw SignetError(error) }
      try await vaulted(await vault.deleteContainer(id))
      return .undeliverable(SignetError(error))
    }
    if let authentication { _ = try await sessionKey(of: try Container(stored), by: authentication) }
    try await deleteUAFKeysIfLocked(stored)
    var requested: Ending?
    for ending in try await endings(of: withStaged(stored), .deleted, reason, by: authentication) {
      let ended: Ending
      do { ended = try await end(ending) } catch {
        // Another process may have completed or discarded the unconfirmed renewal in the meantime.
        if ending.id != id, case .noSuchContainer = error { continue }
        throw SignetError(error)
      }
      guard ended.id == id else { continue }
      clearPasswordCache()
      requested = ended
    }
    let now = clock.now
    let report = try await send(evenIfEarly: true) {
      $0.server == stored.attributes.server && $0.created <= now
    }
    if let failure = requested?.failure { return .undeliverable(failure) }
    // Failures of older notices to the same server say nothing about this one.
    let waiting = report.waiting.first { $0.notice.message == requested?.message }
    return waiting?.failure.map { .queued($0) } ?? .delivered
  }

  /// Returns the notices that wait for delivery, oldest first.
  ///
  /// - Throws: ``SignetError``.
  public func queuedNotices() async throws(SignetError) -> [QueuedNotice] {
    try await storedNotices().compactMap { QueuedNotice($0) }
  }

  /// Sends the queued notices to servers: of deleted containers, and of containers that were wiped after too many wrong passwords.
  ///
  /// This call also deletes the rest of the wiped containers.
  ///
  /// Call it when an app starts, when the network returns, and after ``SignetError/wiped``. After a failed attempt the
  /// next one waits, from one minute up to one day. A notice expires after 90 days.
  ///
  /// - Parameter isEarly: True to ignore the wait.
  /// - Returns: The result for each notice.
  /// - Throws: ``SignetError`` of the vault; failures of servers are in the report.
  @discardableResult
  public func sendQueuedNotices(evenIfEarly isEarly: Bool = false) async throws(SignetError) -> NoticeReport {
    try await endWipedContainers()
    try await sendAcknowledgements(evenIfEarly: isEarly)
    return try await send(evenIfEarly: isEarly) { _ in true }
  }

  /// Deletes everything on this device: all containers with their keys, their objects in the hardware, and the vault's files.
  ///
  /// The keys are deleted first and immediately, then servers are notified. If a server cannot be reached, only its
  /// notices stay until they are sent: call this again later, or with `isForced`. After everything was erased, this
  /// device and its vault cannot be used; open new ones.
  ///
  /// - Parameters:
  ///   - reason: The reason for the operators' audit logs, in the form of ``deleteContainer(_:reason:by:)``.
  ///   - isForced: True to delete unsent notices too, and to continue without a notice if the keystore cannot sign at the moment.
  ///   - authentications: The credentials of session keys with a password; servers of other containers with a password are not notified.
  /// - Returns: The results of the notices, and whether everything was erased.
  /// - Throws: ``SignetError``, in particular if a credential does not open a session key; nothing was deleted then.
  public func reset(
    reason: String = "", force isForced: Bool = false,
    by authentications: [LocalContainerID: Authentication] = [:]
  ) async throws(SignetError) -> ResetReport {
    for (id, authentication) in authentications {
      _ = try await sessionKey(of: try await container(id), by: authentication)
    }
    var unreported: [UnreportedContainer] = []
    for id in try await vaulted(await vault.alteredContainers()) {
      let claimed = try await vaulted(await vault.unauthenticatedAttributes(of: id))
      // The container of the imported accounts has an empty server name.
      if claimed?.server != "" { unreported.append(UnreportedContainer(altered: claimed)) }
      try await vaulted(await vault.deleteContainer(id))
    }
    try await endWipedContainers()
    let stored = try await vaulted(await vault.containers(matching: .init(state: nil)))
    let all = stored.filter(\.state.isOfServer)
    // All notices are signed before the first deletion. If one cannot be signed at the moment, nothing is deleted.
    var pending: [(stored: StoredContainer, ending: Ending)] = []
    for stored in all {
      let authentication = authentications[stored.id]
      for ending in try await endings(
        of: [stored], .reset, reason, by: authentication, evenIfUnsigned: isForced)
      { pending.append((stored, ending)) }
    }
    // No Signet server knows the imported accounts or the FIDO UAF keys.
    for local in stored where !local.state.isOfServer {
      try await vaulted(await vault.deleteContainer(local.id))
    }
    for (stored, ending) in pending {
      let ended: Ending
      do { ended = try await end(ending) } catch { throw SignetError(error) }
      if ended.failure != nil { unreported.append(UnreportedContainer(stored)) }
    }
    clearPasswordCache()
    let report = try await send(evenIfEarly: true) { _ in true }
    let isErased = report.waiting.isEmpty || isForced
    if isErased { try await vaulted(await vault.erase()) }
    return ResetReport(notices: report, undeliverable: unreported, isErased: isErased)
  }

  /// Deletes the UAF keys that a locked container protects; otherwise deleting the container would lift the lock from them.
  private func deleteUAFKeysIfLocked(_ stored: StoredContainer) async throws(SignetError) {
    guard stored.state == .active else { return }
    let container: Container
    do throws(SignetError) {
      container = try Container(stored)
      guard try await evaluated(container).lock.isLocked else { return }
    } catch {
      // An unreadable container is deleted anyway; its UAF keys cannot be identified.
      return
    }
    try await deleteUAFKeys(of: container.user, at: container.server)
  }

  /// Returns a container with its unconfirmed replacements, which come first; an unconfirmed container is returned alone.
  private func withStaged(
    _ stored: StoredContainer
  ) async throws(SignetError) -> [StoredContainer] {
    guard stored.state == .active else { return [stored] }
    let filter = StoredContainerFilter(
      userID: stored.attributes.userID, server: stored.attributes.server, state: .unconfirmed)
    return try await vaulted(await vault.containers(matching: filter)) + [stored]
  }

  /// A container to delete, with the notice to its server.
  private struct Ending {
    let id: LocalContainerID
    /// The JWS of the notice; `nil` if the container could not sign.
    var message: String?
    var notice: NoticeDraft?
    var failure: SignetError?
  }

  /// Deletes a container and stores its notice; if the vault rejects the notice for its size or number, the container is
  /// deleted without it.
  private func end(_ ending: Ending) async throws(VaultFailure) -> Ending {
    do {
      try await vault.deleteContainer(ending.id, leaving: ending.notice)
      return ending
    } catch {
      guard case .invalidDraft = error, ending.notice != nil else { throw error }
      try await vault.deleteContainer(ending.id)
      return Ending(id: ending.id, failure: SignetError(error))
    }
  }

  /// Deletes the unconfirmed replacement of a locked container, with a notice because the server may have confirmed it.
  func endStaged(_ container: Container) async throws(SignetError) {
    let stored = try await vaulted(await vault.container(container.id))
    for ending in try await endings(of: [stored], .deleted, "the container that it renews is locked") {
      do { _ = try await end(ending) } catch { throw SignetError(error) }
    }
  }

  /// Signs end notices with the session key of each container, in the order of `group`.
  ///
  /// - Throws: ``SignetError/reasonRefused(_:)``. If `allowsUnsigned` is false, also the failure of a keystore that
  ///   cannot sign at the moment.
  private func endings(
    of group: [StoredContainer], _ event: EndNotice.Event, _ reason: String, at time: Int64? = nil,
    by authentication: Authentication? = nil, evenIfUnsigned allowsUnsigned: Bool = false
  ) async throws(SignetError) -> [Ending] {
    var endings: [Ending] = []
    for stored in group {
      do throws(SignetError) {
        let message = try await endMessage(
          stored, event, reason, at: time ?? clock.now, by: authentication)
        let notice = QueuedNotice.draft(message, event, of: stored, at: clock.now)
        endings.append(Ending(id: stored.id, message: message, notice: notice, failure: nil))
      } catch {
        if case .reasonRefused = error { throw error }
        if error.isTransient && !allowsUnsigned { throw error }
        endings.append(Ending(id: stored.id, failure: error))
      }
    }
    return endings
  }

  private func endMessage(
    _ stored: StoredContainer, _ event: EndNotice.Event, _ reason: String, at time: Int64,
    by authentication: Authentication?
  ) async throws(SignetError) -> String {
    let container = try Container(stored)
    let notice: EndNotice
    do {
      notice = try EndNotice(
        container: container.serverContainerID, server: container.server, device: vault.deviceID.bytes,
        event: event, reason: reason, time: time)
    } catch { throw .reasonRefused(error) }
    let key = try await sessionKey(of: container, by: authentication)
    return try await notice.signed { (message) async throws(SignetError) in
      try await vaulted(await key.signature(of: message))
    }
  }

  /// Creates the notices for wiped containers; if one cannot be signed at the moment, a later call creates it.
  private func endWipedContainers() async throws(SignetError) {
    for receipt in try await vaulted(await vault.wipeReceipts()) {
      do throws(SignetError) { try await endWiped(receipt) } catch {
        // Another process may have created it already.
        if case .noSuchContainer = error { continue }
        guard error.isTransient else { throw error }
      }
    }
  }

  private func endWiped(_ receipt: WipeReceipt) async throws(SignetError) {
    let stored = try await vaulted(await vault.container(receipt.container))
    let reason = "erased after \(receipt.failedCount) wrong passwords"
    for ending in try await endings(of: withStaged(stored), .wiped, reason, at: receipt.wipedAt) {
      guard let notice = ending.notice else { continue }
      try await vaulted(await vault.deleteContainer(ending.id, leaving: notice))
    }
  }

  /// Returns all notices; an altered notice cannot be sent, so it is removed.
  func storedNotices() async throws(SignetError) -> [Notice] {
    while true {
      do { return try await vault.notices() } catch {
        guard case .altered(.notice(let id)) = error else { throw SignetError(error) }
        try await vaulted(await vault.removeNotice(id))
      }
    }
  }

  private func send(
    evenIfEarly isEarly: Bool, _ isSelected: (QueuedNotice) -> Bool
  ) async throws(SignetError) -> NoticeReport {
    var report = NoticeReport()
    for notice in try await queuedNotices() where isSelected(notice) {
      let now = clock.now
      guard now < notice.expires else {
        try await vaulted(await vault.removeNotice(notice.id))
        report.expired.append(notice)
        continue
      }
      guard isEarly || notice.isDue(at: now) else {
        report.waiting.append(.init(notice: notice, failure: nil))
        continue
      }
      do throws(SignetError) {
        try await deliver(notice)
        try await vaulted(await vault.removeNotice(notice.id))
        report.delivered.append(notice)
      } catch {
        try await vaulted(await vault.postponeNotice(notice.id, notBefore: notice.retry(after: now)))
        report.waiting.append(.init(notice: notice, failure: error))
      }
    }
    return report
  }

  private func deliver(_ notice: QueuedNotice) async throws(SignetError) {
    let server: ServerURL
    do { server = try ServerURL(notice.server) } catch { throw .vault(.damaged) }
    do throws(SignetError) {
      let body = try await session(server, notice.connection).post("/v1/device/end", notice.body)
      try StatusAnswer.check(body, is: "ended")
    } catch .containerUnknown {
      return  // the server does not know the container
    }
  }
}

extension SignetError {
  /// Indicates a temporary failure of the keystore or the vault, so that signing may succeed later.
  fileprivate var isTransient: Bool {
    switch self {
    case .vault(.busy): true
    case .vault(.keystore(let failure)):
      if case .tryLater = failure.remedy { true } else { false }
    case .key(_, let failure): failure.isTransient
    default: false
    }
  }
}
