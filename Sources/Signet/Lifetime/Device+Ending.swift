import SignetCrypto
public import SignetVault
import SignetWire

extension Device {
  /// Deletes a container with all its keys, at once, and tells its server, at once or later.
  ///
  /// The notice is signed by the container's session key and is on the disk together with the deletion; no key is kept for it. Where
  /// the server can't be reached, ``sendQueuedNotices(evenIfEarly:)`` goes on. A renewal that was begun is deleted too,
  /// and with a locked container the keys of FIDO UAF that its user has at its server.
  ///
  /// - Parameters:
  ///   - id: Which one; also one that is not confirmed, or was changed from outside.
  ///   - reason: For the operator's audit log, in the user's or the app's words: at most 1,000 characters, no line feed.
  ///   - authentication: What opens the session key; `nil` where the device alone does, and for a container that is to be deleted
  ///     without a word to its server, where the session key has a password.
  /// - Returns: Whether the server has heard of it.
  /// - Throws: ``SignetFailure``: `noSuchContainer`, `reasonRefused`, that the session key does not open with what was
  ///   given, or that the keystore is busy or does not answer; nothing was deleted then.
  @discardableResult
  public func deleteContainer(
    _ id: SignetVault.ContainerID, reason: String = "", by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> NoticeOutcome {
    let stored: SignetVault.Container
    do { stored = try await vault.container(id) } catch {
      // What was changed from outside says nothing that could be believed, also not how to reach its server.
      guard case .altered(.container) = error else { throw SignetFailure(error) }
      try await vaulted(await vault.deleteContainer(id))
      return .untold(SignetFailure(error))
    }
    if let authentication { _ = try await sessionKey(of: try Container(stored), by: authentication) }
    try await deleteUAFKeysIfLocked(stored)
    var own: Ending?
    for ending in try await endings(of: withStaged(stored), .deleted, reason, by: authentication) {
      let ended: Ending
      do { ended = try await end(ending) } catch {
        // What was begun may have been finished or dropped by another process meanwhile.
        if ending.id != id, case .noSuchContainer = error { continue }
        throw SignetFailure(error)
      }
      guard ended.id == id else { continue }
      clearPasswordCache()
      own = ended
    }
    let now = clock.now
    let report = try await send(evenIfEarly: true) {
      $0.server == stored.attributes.server && $0.created <= now
    }
    if let failure = own?.failure { return .untold(failure) }
    // What becomes of older notices to the same server is no word on this one.
    let waiting = report.waiting.first { $0.notice.message == own?.message }
    return waiting?.failure.map { .queued($0) } ?? .told
  }

  /// What servers have not heard yet, oldest first.
  ///
  /// - Throws: ``SignetFailure``.
  public func queuedNotices() async throws(SignetFailure) -> [QueuedNotice] {
    try await storedNotices().compactMap { QueuedNotice($0) }
  }

  /// Tells servers what they have not heard yet: of containers that were deleted, and of those that were erased after too many wrong
  /// passwords, which end with this.
  ///
  /// Call it when an app starts, when the network comes back, and after ``SignetFailure/wiped``. After an attempt that fails the next one
  /// waits, a minute first and up to a day; after 90 days a notice is given up.
  ///
  /// - Parameter isEarly: Whether servers are tried also where the wait is not over.
  /// - Returns: What became of each.
  /// - Throws: ``SignetFailure`` of the vault; what servers say is in the report.
  @discardableResult
  public func sendQueuedNotices(evenIfEarly isEarly: Bool = false) async throws(SignetFailure) -> NoticeReport
  {
    try await endWipedContainers()
    try await sendAcknowledgements(evenIfEarly: isEarly)
    return try await send(evenIfEarly: isEarly) { _ in true }
  }

  /// Deletes everything on this device: all containers with their keys, what the hardware keeps for them, and the vault's files.
  ///
  /// The keys go first and at once. Servers are told; where one can't be reached, the notices to it stay, and nothing else, until they are
  /// sent: do it again later, or now with `isForced`. After everything was erased, this device and its vault are of no use; open new ones.
  ///
  /// - Parameters:
  ///   - reason: For the operators' audit logs, as with ``deleteContainer(_:reason:by:)``.
  ///   - isForced: Whether notices that could not be sent are deleted too, and servers left untold where the keystore cannot
  ///     sign at the moment.
  ///   - authentications: What opens session keys with a password of their own; servers of the other containers with one are not told.
  /// - Returns: What became of the notices, and whether everything was erased.
  /// - Throws: ``SignetFailure``, above all that a session key does not open with what was given; nothing was deleted then.
  public func reset(
    reason: String = "", force isForced: Bool = false,
    by authentications: [SignetVault.ContainerID: Authentication] = [:]
  ) async throws(SignetFailure) -> ResetReport {
    for (id, authentication) in authentications {
      _ = try await sessionKey(of: try await container(id), by: authentication)
    }
    var untold: [UntoldContainer] = []
    for id in try await vaulted(await vault.alteredContainers()) {
      let claimed = try await vaulted(await vault.unauthenticatedAttributes(of: id))
      // The accounts that were imported claim none.
      if claimed?.server != "" { untold.append(UntoldContainer(altered: claimed)) }
      try await vaulted(await vault.deleteContainer(id))
    }
    try await endWipedContainers()
    let stored = try await vaulted(await vault.containers(matching: .init(state: nil)))
    let all = stored.filter(\.state.isOfServer)
    // All sign before the first is deleted: one that cannot at the moment stops it all.
    var ends: [(stored: SignetVault.Container, ending: Ending)] = []
    for stored in all {
      let authentication = authentications[stored.id]
      for ending in try await endings(
        of: [stored], .reset, reason, by: authentication, evenIfUnsigned: isForced)
      { ends.append((stored, ending)) }
    }
    // No server of ours knows of the accounts that were imported, nor of the keys of FIDO UAF.
    for own in stored where !own.state.isOfServer {
      try await vaulted(await vault.deleteContainer(own.id))
    }
    for (stored, ending) in ends {
      let ended: Ending
      do { ended = try await end(ending) } catch { throw SignetFailure(error) }
      if ended.failure != nil { untold.append(UntoldContainer(stored)) }
    }
    clearPasswordCache()
    let report = try await send(evenIfEarly: true) { _ in true }
    let isErased = report.waiting.isEmpty || isForced
    if isErased { try await vaulted(await vault.erase()) }
    return ResetReport(notices: report, untold: untold, isErased: isErased)
  }

  /// Deletes with a locked container the keys of UAF that fall under its lock, so that to delete it does not end that.
  private func deleteUAFKeysIfLocked(_ stored: SignetVault.Container) async throws(SignetFailure) {
    guard stored.state == .active else { return }
    let container: Container
    do throws(SignetFailure) {
      container = try Container(stored)
      guard try await evaluated(container).lock.isLocked else { return }
    } catch {
      // What cannot be read is deleted all the same; nobody can tell whose keys of UAF those are.
      return
    }
    try await deleteUAFKeys(of: container.user, at: container.server)
  }

  /// A container with what was begun to take its place; what is not confirmed itself stands alone.
  private func withStaged(
    _ stored: SignetVault.Container
  ) async throws(SignetFailure) -> [SignetVault.Container] {
    guard stored.state == .active else { return [stored] }
    let filter = SignetVault.ContainerFilter(
      userID: stored.attributes.userID, server: stored.attributes.server, state: .unconfirmed)
    return try await vaulted(await vault.containers(matching: filter)) + [stored]
  }

  /// A container that is to end, and what its server is to hear.
  private struct Ending {
    let id: SignetVault.ContainerID
    /// The JWS, and what the vault keeps of it; `nil` where the container could not sign.
    var message: String?
    var notice: NoticeDraft?
    var failure: SignetFailure?
  }

  /// Deletes what is to end, with its notice; without one where the vault takes none of this size or number.
  private func end(_ ending: Ending) async throws(VaultFailure) -> Ending {
    do {
      try await vault.deleteContainer(ending.id, leaving: ending.notice)
      return ending
    } catch {
      guard case .invalidDraft = error, ending.notice != nil else { throw error }
      try await vault.deleteContainer(ending.id)
      return Ending(id: ending.id, failure: SignetFailure(error))
    }
  }

  /// Deletes what was begun to take the place of a container that is locked, and tells the server, which may have confirmed it.
  func endStaged(_ container: Container) async throws(SignetFailure) {
    let stored = try await vaulted(await vault.container(container.id))
    for ending in try await endings(of: [stored], .deleted, "the container that it renews is locked") {
      do { _ = try await end(ending) } catch { throw SignetFailure(error) }
    }
  }

  /// Signs that containers have ended, by the session key of each; what was begun to take a place comes before what has it.
  ///
  /// - Throws: ``SignetFailure/reasonRefused(_:)``; unless it does not matter, that the keystore cannot sign at the moment.
  private func endings(
    of group: [SignetVault.Container], _ event: EndNotice.Event, _ reason: String, at time: Int64? = nil,
    by authentication: Authentication? = nil, evenIfUnsigned isUnsignedEnough: Bool = false
  ) async throws(SignetFailure) -> [Ending] {
    var endings: [Ending] = []
    for stored in group {
      do throws(SignetFailure) {
        let message = try await endMessage(
          stored, event, reason, at: time ?? clock.now, by: authentication)
        let notice = QueuedNotice.draft(message, event, of: stored, at: clock.now)
        endings.append(Ending(id: stored.id, message: message, notice: notice, failure: nil))
      } catch {
        if case .reasonRefused = error { throw error }
        if error.passes && !isUnsignedEnough { throw error }
        endings.append(Ending(id: stored.id, failure: error))
      }
    }
    return endings
  }

  private func endMessage(
    _ stored: SignetVault.Container, _ event: EndNotice.Event, _ reason: String, at time: Int64,
    by authentication: Authentication?
  ) async throws(SignetFailure) -> String {
    let container = try Container(stored)
    let notice: EndNotice
    do {
      notice = try EndNotice(
        container: container.serverMadeID, server: container.server, device: vault.deviceID.bytes,
        event: event, reason: reason, time: time)
    } catch { throw .reasonRefused(error) }
    let key = try await sessionKey(of: container, by: authentication)
    return try await notice.signed { (message) async throws(SignetFailure) in
      try await key.signature(of: message)
    }
  }

  /// Makes notices of what was erased after too many wrong passwords; what can't be signed now waits.
  private func endWipedContainers() async throws(SignetFailure) {
    for receipt in try await vaulted(await vault.wipeReceipts()) {
      do throws(SignetFailure) { try await endWiped(receipt) } catch {
        // Another process may have been quicker.
        if case .noSuchContainer = error { continue }
        guard error.passes else { throw error }
      }
    }
  }

  private func endWiped(_ receipt: WipeReceipt) async throws(SignetFailure) {
    let stored = try await vaulted(await vault.container(receipt.container))
    let reason = "erased after \(receipt.failedCount) wrong passwords"
    for ending in try await endings(of: withStaged(stored), .wiped, reason, at: receipt.wipedAt) {
      guard let notice = ending.notice else { continue }
      try await vaulted(await vault.deleteContainer(ending.id, leaving: notice))
    }
  }

  /// All notices; one that was changed from outside is of no use to anybody, and removed.
  func storedNotices() async throws(SignetFailure) -> [Notice] {
    while true {
      do { return try await vault.notices() } catch {
        guard case .altered(.notice(let id)) = error else { throw SignetFailure(error) }
        try await vaulted(await vault.removeNotice(id))
      }
    }
  }

  private func send(
    evenIfEarly isEarly: Bool, _ isMeant: (QueuedNotice) -> Bool
  ) async throws(SignetFailure) -> NoticeReport {
    var report = NoticeReport()
    for notice in try await queuedNotices() where isMeant(notice) {
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
      do throws(SignetFailure) {
        try await tell(notice)
        try await vaulted(await vault.removeNotice(notice.id))
        report.told.append(notice)
      } catch {
        try await vaulted(await vault.postponeNotice(notice.id, notBefore: notice.retry(after: now)))
        report.waiting.append(.init(notice: notice, failure: error))
      }
    }
    return report
  }

  private func tell(_ notice: QueuedNotice) async throws(SignetFailure) {
    let server: ServerURL
    do { server = try ServerURL(notice.server) } catch { throw .vault(.damaged) }
    do throws(SignetFailure) {
      let body = try await session(server, notice.connection).post("/v1/device/end", notice.body)
      try StatusAnswer.check(body, is: "ended")
    } catch .containerUnknown {
      return  // the server has nothing to end
    }
  }
}

extension SignetFailure {
  /// Whether the keystore or another process is in the way for a moment: what cannot be signed now can be then.
  fileprivate var passes: Bool {
    switch self {
    case .vault(.busy): true
    case .vault(.keystore(let failure)):
      if case .tryLater = failure.remedy { true } else { false }
    case .key(_, let failure): failure.passes
    default: false
    }
  }
}
