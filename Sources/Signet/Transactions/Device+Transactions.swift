import SignetCrypto
import SignetJSON
import SignetTransport
import SignetVault
public import SignetWire

extension Device {
  /// The transactions that wait for the container's user, oldest first.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The transactions.
  /// - Throws: ``SignetFailure``.
  public func pendingTransactions(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> [TransactionRequest] {
    try await transactionList(for: container, by: authentication).transactions
  }

  /// What the server lists for a container: the transactions that wait for its user, and whether it is to be renewed, by
  /// ``renew(_:password:keyPasswords:handler:)``.
  ///
  /// Where the server wants to hear of the device, or has ordered something, that is
  /// done too, as ``reportCondition(of:by:)`` does it.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The list.
  /// - Throws: ``SignetFailure``; `containerWiped` where the server has ordered that the container be deleted, and it is.
  public func transactionList(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> TransactionList {
    guard let found = try await transactionList(beyond: nil, for: container, by: authentication) else {
      throw .unexpectedAnswer(status: 304)
    }
    if found.list.isReportWanted {
      _ = try await meetsWish(for: container, with: sessionKey(of: container, by: authentication))
    }
    return found.list
  }

  /// Opens a list, and finds out that the server made it, for this container and this request.
  func list(
    in body: [UInt8], answering id: [UInt8], for container: Container, _ session: ServerSession,
    _ decryptionKey: P256.KeyAgreement.PrivateKey
  ) async throws(SignetFailure) -> TransactionList {
    let sealed: SealedTransactionList
    do {
      sealed = try SealedTransactionList(
        decrypting: String(decoding: body, as: UTF8.self), with: decryptionKey)
    } catch { throw .unexpectedAnswer(status: 200) }
    let key = try await serverKey(called: sealed.signer, of: container, session)
    let address = ListAddress(server: container.server, container: container.serverMadeID, request: id)
    let list: TransactionList
    do { list = try sealed.list(signedBy: key, for: address) } catch { throw .unexpectedAnswer(status: 200) }
    await note(.otherServerKey, false, of: container)
    return list
  }

  /// The server's key that has this thumbprint: the one that the container knows, or one that it leads to.
  ///
  /// That there is none is remembered until an answer is verified.
  package func serverKey(
    called thumbprint: String, of container: Container, _ session: ServerSession
  ) async throws(SignetFailure) -> P256.Signing.PublicKey {
    do throws(SignetFailure) {
      return try await trustedServerKey(called: thumbprint, of: container, session)
    } catch {
      if case .serverKeyUnknown = error { await note(.otherServerKey, true, of: container) }
      throw error
    }
  }

  private func trustedServerKey(
    called thumbprint: String, of container: Container, _ session: ServerSession
  ) async throws(SignetFailure) -> P256.Signing.PublicKey {
    var facts = try await facts(of: container)
    guard let known = facts.serverKey else { throw .serverKeyUnknown }
    if known.thumbprint == thumbprint { return known }
    let published = try await session.get("/v1/jwks")
    let set: ServerKeySet
    do { set = try ServerKeySet(parsing: published) } catch { throw .unexpectedAnswer(status: 200) }
    guard let next = set.successor(of: known, called: thumbprint, at: container.server) else {
      throw .serverKeyUnknown
    }
    facts.serverKey = next
    try await vaulted(await vault.setProtocolFacts(facts.bytes, of: container.id))
    return next
  }

  func facts(of container: Container) async throws(SignetFailure) -> ContainerFacts {
    let stored = try await vaulted(await vault.container(container.id))
    do { return try ContainerFacts(parsing: stored.attributes.protocolFacts) } catch {
      throw .unsupportedProfile(error)
    }
  }

  /// Signs a decision about a transaction and sends it.
  ///
  /// What is signed is the content of `transaction`, exactly, with the decision, the time, the transaction's end, and the names of
  /// server, user, container and device. Show all of it, as ``TransactionDisplay`` lays it out, and nothing else. When the
  /// answer to a decision is lost, the same decision can be made again until the transaction ends.
  ///
  /// Where what is asked for demands a younger report of the device than the server has, the device reports, as
  /// ``reportCondition(of:by:)`` does it, and sends the decision once more.
  ///
  /// - Parameters:
  ///   - transaction: As ``pendingTransactions(for:by:)`` gave it.
  ///   - status: What the user decided.
  ///   - number: What the relying party shows and the user typed, where `transaction` has `numberDigits` and is accepted.
  ///   - deviceContext: What the app says of the circumstances, such as a place: 1 to 750 bytes, signed with the decision, which
  ///     the relying party reads and nobody else.
  ///   - container: Who decides.
  ///   - authentication: What opens the signing key; `nil` where the device alone does, and where
  ///     ``verify(_:for:key:)`` has just kept what it opened, which this uses up.
  ///   - sessionAuthentication: What opens the session key; `nil` where the device alone does.
  /// - Throws: ``SignetFailure``; `passwordRequired` if there is nothing and nothing is kept; a wrong password changes nothing at the
  ///   server. `containerWiped` where the server answers a report with that, and `accountLocked` where a report leads to a lock.
  public func decide(
    _ transaction: TransactionRequest, _ status: DecisionStatus, number: MatchingNumber? = nil,
    deviceContext: [UInt8]? = nil, with container: Container, by authentication: Authentication? = nil,
    session sessionAuthentication: Authentication? = nil
  ) async throws(SignetFailure) {
    guard transaction.statuses.contains(status) else { throw .decisionNotAllowed }
    // To say no is always possible: who is locked out must be able to stop what somebody else has begun.
    if status == .accepted { try await requireUnlocked(container) }
    let now = clock.now
    guard transaction.expires > now else { throw .transactionExpired }
    let wanted = status == .accepted ? transaction.numberDigits : nil
    guard wanted == number?.digits.utf8.count else { throw .numberRequired(digits: wanted ?? 0) }
    if let deviceContext {
      do { try Decision.check(deviceContext: deviceContext) } catch { throw .contentRefused(error) }
    }
    // First: a wrong password of this key does not use up what is kept for the other.
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let jws = try await sign(
      transaction, status, at: now, number: number, deviceContext: deviceContext, with: container,
      by: authentication)
    let body: JSONObject = ["decision": .string(jws)]
    let answer = try await send(
      decision: JSONValue.object(body).bytes, status, about: transaction.id, of: container, sessionKey)
    try StatusAnswer.check(answer, is: status.rawValue)
  }

  /// Sends a decision; where a report is due first, reports and sends it once more.
  private func send(
    decision: [UInt8], _ status: DecisionStatus, about transaction: TransactionID, of container: Container,
    _ key: DeviceSigningKey
  ) async throws(SignetFailure) -> [UInt8] {
    do throws(SignetFailure) {
      return try await send(decision, as: "decision", about: transaction, of: container, key)
    } catch {
      guard case .refused(let problem) = error, problem.code == .reportDue else { throw error }
    }
    do throws(SignetFailure) {
      if case .wiped = try await reportCondition(of: container, signedBy: key) { throw .containerWiped }
    } catch {
      // Each question of the server ends the one before: another decision, or the wait for what comes, has just reported.
      guard case .refused(let problem) = error, problem.code == .reportReplayed else { throw error }
    }
    // What was found for the report, or what the server made of it, may lock the container.
    if status == .accepted { try await requireStillUnlocked(container) }
    return try await send(decision, as: "decision", about: transaction, of: container, key)
  }

  func sign(
    _ transaction: TransactionRequest, _ status: DecisionStatus, at time: Int64,
    number: MatchingNumber? = nil, deviceContext: [UInt8]? = nil, with container: Container,
    by authentication: Authentication?
  ) async throws(SignetFailure) -> String {
    let signingKey = try await unlockForSignature(
      container, by: authentication, isGuarded: status == .accepted
    ).signingKey(VaultLayout.signingKey, in: vault)
    if status == .accepted { try await requireStillUnlocked(container) }
    let decision = Decision(
      status, of: transaction, at: time, server: container.server, user: container.user,
      container: container.serverMadeID, device: vault.deviceID.bytes, number: number,
      deviceContext: deviceContext)
    return try await decision.signed(for: signingKey.publicKey) {
      (message) async throws(SignetFailure) in try await signingKey.signature(of: message)
    }
  }

  /// Puts an end to a transaction without deciding it, for all devices of the user; nothing is signed but the request.
  ///
  /// Where the user says that somebody else asked, ``decide(_:_:number:deviceContext:with:by:session:)`` with `reported` says so under the
  /// user's signature; this needs no password.
  ///
  /// - Parameters:
  ///   - transaction: Which one.
  ///   - cancellation: Why.
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Throws: ``SignetFailure``.
  public func cancel(
    _ transaction: TransactionID, _ cancellation: Cancellation, with container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetFailure) {
    let sessionKey = try await sessionKey(of: container, by: authentication)
    let answer = try await send(
      cancellation.bytes, as: "cancel", about: transaction, of: container, sessionKey)
    try StatusAnswer.check(answer, is: "cancelled")
  }

  private func send(
    _ body: [UInt8], as name: String, about transaction: TransactionID, of container: Container,
    _ key: DeviceSigningKey
  ) async throws(SignetFailure) -> [UInt8] {
    do throws(SignetFailure) {
      return try await session(container).send(
        .post, "/v1/device/transactions/\(transaction.text)/\(name)", body, signedBy: key,
        container: container.serverMadeID)
    } catch {
      if case .refused(let problem) = error, problem.code == .unknown { throw .noSuchTransaction }
      throw error
    }
  }
}
