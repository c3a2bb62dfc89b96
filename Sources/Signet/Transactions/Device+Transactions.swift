import SignetCrypto
import SignetHTTPClient
import SignetJSON
public import SignetProtocol
import SignetVault

extension Device {
  /// Fetches the pending transactions of the container's user, oldest first.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The transactions.
  /// - Throws: ``SignetError``.
  public func pendingTransactions(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> [TransactionRequest] {
    try await transactionList(for: container, by: authentication).transactions
  }

  /// Fetches the server's list for a container: its user's pending transactions, and whether the server asks for a
  /// renewal (``renew(_:password:keyPasswords:handler:)``).
  ///
  /// If the server asks for a report or has ordered a command, this also does the work of ``reportCondition(of:by:)``.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The list.
  /// - Throws: ``SignetError``; `containerWiped` if the server ordered the deletion of the container, which is then deleted.
  public func transactionList(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> TransactionList {
    try await transactionList(for: container, with: sessionKeys(of: container, by: authentication))
  }

  /// Fetches a list like ``transactionList(for:by:)``, with open keys.
  package func transactionList(
    for container: Container, with keys: SessionKeys
  ) async throws(SignetError) -> TransactionList {
    guard let found = try await transactionList(beyond: nil, for: container, with: keys) else {
      throw .unexpectedAnswer(status: 304)
    }
    if found.list.isReportRequested { _ = try await sendRequestedReport(for: container, with: keys.session) }
    return found.list
  }

  /// Decrypts a list and verifies that the server signed it for this container and this request.
  func list(
    in body: [UInt8], answering id: [UInt8], for container: Container, _ session: ServerSession,
    _ decryptionKey: P256.KeyAgreement.PrivateKey
  ) async throws(SignetError) -> TransactionList {
    let sealed: SealedTransactionList
    do {
      sealed = try SealedTransactionList(
        decrypting: String(decoding: body, as: UTF8.self), with: decryptionKey)
    } catch { throw .unexpectedAnswer(status: 200) }
    let key = try await serverKey(called: sealed.signer, of: container, session)
    let address = ListAddress(server: container.server, container: container.serverContainerID, request: id)
    let list: TransactionList
    do { list = try sealed.list(signedBy: key, for: address) } catch { throw .unexpectedAnswer(status: 200) }
    await record(.otherServerKey, false, of: container)
    return list
  }

  /// Returns the server's signing key with a thumbprint: the known one, or a successor that a chain of signatures from it confirms.
  ///
  /// If there is none, that is remembered until an answer is verified.
  package func serverKey(
    called thumbprint: String, of container: Container, _ session: ServerSession
  ) async throws(SignetError) -> P256.Signing.PublicKey {
    do throws(SignetError) {
      return try await trustedServerKey(called: thumbprint, of: container, session)
    } catch {
      if case .serverKeyUnknown = error { await record(.otherServerKey, true, of: container) }
      throw error
    }
  }

  private func trustedServerKey(
    called thumbprint: String, of container: Container, _ session: ServerSession
  ) async throws(SignetError) -> P256.Signing.PublicKey {
    var binding = try await binding(of: container)
    guard let current = binding.serverKey else { throw .serverKeyUnknown }
    if current.thumbprint == thumbprint { return current }
    let published = try await session.get("/v1/jwks")
    let set: ServerKeySet
    do { set = try ServerKeySet(parsing: published) } catch { throw .unexpectedAnswer(status: 200) }
    guard let next = set.successor(of: current, called: thumbprint, at: container.server) else {
      throw .serverKeyUnknown
    }
    binding.serverKey = next
    try await vaulted(await vault.setProtocolParameters(binding.bytes, of: container.id))
    return next
  }

  func binding(of container: Container) async throws(SignetError) -> ContainerBinding {
    let stored = try await vaulted(await vault.container(container.id))
    do { return try ContainerBinding(parsing: stored.attributes.protocolParameters) } catch {
      throw .unsupportedProfile(error)
    }
  }

  /// Signs a decision about a transaction and sends it.
  ///
  /// The signature covers the exact content of `transaction`, the decision, the time, the transaction's expiry, and the
  /// names of server, user, container and device. Show the complete content in the layout of ``TransactionDisplay``, and
  /// nothing else. If the answer to a decision is lost, the same decision can be sent again until the transaction expires.
  ///
  /// If the server requires a newer report of the device for the transaction, the device reports, like
  /// ``reportCondition(of:by:)``, and sends the decision once more.
  ///
  /// - Parameters:
  ///   - transaction: A result of ``pendingTransactions(for:by:)``.
  ///   - status: The user's decision.
  ///   - number: The number that the relying party shows and the user typed; required to accept a `transaction` with `numberDigits`.
  ///   - deviceContext: The app's data about the circumstances, such as a place: 1 to 750 bytes. It is signed with the
  ///     decision, and only the relying party reads it.
  ///   - container: The container that signs.
  ///   - authentication: The credential of the signing key; `nil` if the device opens it alone, or if
  ///     ``verify(_:for:key:)`` has just cached the key, which this call consumes.
  ///   - sessionAuthentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Throws: ``SignetError``; `passwordRequired` without a credential or a cached key. A wrong password changes
  ///   nothing at the server. `containerWiped` or `accountLocked` if a report leads to a deletion or a lock.
  public func decide(
    _ transaction: TransactionRequest, _ status: DecisionStatus, number: MatchingNumber? = nil,
    deviceContext: [UInt8]? = nil, with container: Container, by authentication: Authentication? = nil,
    session sessionAuthentication: Authentication? = nil
  ) async throws(SignetError) {
    try await decide(
      transaction, status, number: number, deviceContext: deviceContext, with: container, by: authentication
    ) { () async throws(SignetError) in
      try await sessionKey(of: container, by: sessionAuthentication)
    }
  }

  /// Decides like ``decide(_:_:number:deviceContext:with:by:session:)``, with open keys.
  ///
  /// - Throws: ``SignetError``, also if the session key was locked or its password was changed after the keys were opened.
  package func decide(
    _ transaction: TransactionRequest, _ status: DecisionStatus, number: MatchingNumber?,
    with container: Container, by authentication: Authentication?, session keys: SessionKeys
  ) async throws(SignetError) {
    try await decide(
      transaction, status, number: number, deviceContext: nil, with: container, by: authentication
    ) { () async throws(SignetError) in
      try await currentKey(of: keys, container)
    }
  }

  private func decide(
    _ transaction: TransactionRequest, _ status: DecisionStatus, number: MatchingNumber?,
    deviceContext: [UInt8]?, with container: Container, by authentication: Authentication?,
    opening openSessionKey: () async throws(SignetError) -> ContainerSigningKey
  ) async throws(SignetError) {
    guard transaction.statuses.contains(status) else { throw .decisionNotAllowed }
    // A denial is always possible, so that a locked-out user can stop a fraud.
    if status == .accepted { try await requireUnlocked(container) }
    let now = clock.now
    guard transaction.expires > now else { throw .transactionExpired }
    let requiredDigits = status == .accepted ? transaction.numberDigits : nil
    guard requiredDigits == number?.digits.utf8.count else {
      throw .numberRequired(digits: requiredDigits ?? 0)
    }
    if let deviceContext {
      do { try Decision.check(deviceContext: deviceContext) } catch { throw .contentRefused(error) }
    }
    // Opened first, so that a wrong password of this key does not consume the cached signing key.
    let sessionKey = try await openSessionKey()
    let jws = try await sign(
      transaction, status, at: now, number: number, deviceContext: deviceContext, with: container,
      by: authentication)
    let body: JSONObject = ["decision": .string(jws)]
    let answer = try await send(
      decision: JSONValue.object(body).bytes, status, about: transaction.id, of: container, sessionKey)
    try StatusAnswer.check(answer, is: status.rawValue)
  }

  /// Returns the session key of open keys, unless it was locked or its password was changed meanwhile.
  private func currentKey(
    of keys: SessionKeys, _ container: Container
  ) async throws(SignetError) -> ContainerSigningKey {
    try await container.naming(.sessionTransport) { () async throws(SignetError) in
      try await vaulted(await vault.requireCurrent(keys.slot, askingHardware: false))
    }
    return keys.session
  }

  /// Sends a decision; if the server requires a report first, reports and sends the decision once more.
  private func send(
    decision: [UInt8], _ status: DecisionStatus, about transaction: TransactionID, of container: Container,
    _ key: ContainerSigningKey
  ) async throws(SignetError) -> [UInt8] {
    do throws(SignetError) {
      return try await send(decision, as: "decision", about: transaction, of: container, key)
    } catch {
      guard case .refused(let problem) = error, problem.code == .reportDue else { throw error }
    }
    do throws(SignetError) {
      if case .wiped = try await reportCondition(of: container, signedBy: key) { throw .containerWiped }
    } catch {
      // Each challenge of the server invalidates the previous one: another decision, or the live channel, has just reported.
      guard case .refused(let problem) = error, problem.code == .reportReplayed else { throw error }
    }
    // The evidence of the report, or the server's answer to it, may have locked the container.
    if status == .accepted { try await requireStillUnlocked(container) }
    return try await send(decision, as: "decision", about: transaction, of: container, key)
  }

  func sign(
    _ transaction: TransactionRequest, _ status: DecisionStatus, at time: Int64,
    number: MatchingNumber? = nil, deviceContext: [UInt8]? = nil, with container: Container,
    by authentication: Authentication?
  ) async throws(SignetError) -> String {
    let signingKey = try await unlockForSignature(
      container, by: authentication, isGuarded: status == .accepted
    ).signingKey(VaultLayout.signingKey, in: vault)
    if status == .accepted { try await requireStillUnlocked(container) }
    let decision = Decision(
      status, of: transaction, at: time, server: container.server, user: container.user,
      container: container.serverContainerID, device: vault.deviceID.bytes, number: number,
      deviceContext: deviceContext)
    return try await decision.signed(for: signingKey.publicKey) {
      (message) async throws(SignetError) in try await vaulted(await signingKey.signature(of: message))
    }
  }

  /// Cancels a transaction on all devices of the user without a decision; only the request is signed.
  ///
  /// If the user says that an attacker started it, ``decide(_:_:number:deviceContext:with:by:session:)`` with `reported`
  /// states that under the user's signature. A cancellation needs no password.
  ///
  /// - Parameters:
  ///   - transaction: The transaction's ID.
  ///   - cancellation: The reason.
  ///   - container: The container that signs the request.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Throws: ``SignetError``.
  public func cancel(
    _ transaction: TransactionID, _ cancellation: Cancellation, with container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetError) {
    try await cancel(
      transaction, cancellation, with: container, signedBy: sessionKey(of: container, by: authentication))
  }

  /// Cancels like ``cancel(_:_:with:by:)``, with open keys.
  ///
  /// - Throws: ``SignetError``, also if the session key was locked or its password was changed after the keys were opened.
  package func cancel(
    _ transaction: TransactionID, _ cancellation: Cancellation, with container: Container,
    session keys: SessionKeys
  ) async throws(SignetError) {
    try await cancel(
      transaction, cancellation, with: container, signedBy: currentKey(of: keys, container))
  }

  private func cancel(
    _ transaction: TransactionID, _ cancellation: Cancellation, with container: Container,
    signedBy key: ContainerSigningKey
  ) async throws(SignetError) {
    let answer = try await send(cancellation.bytes, as: "cancel", about: transaction, of: container, key)
    try StatusAnswer.check(answer, is: "cancelled")
  }

  private func send(
    _ body: [UInt8], as name: String, about transaction: TransactionID, of container: Container,
    _ key: ContainerSigningKey
  ) async throws(SignetError) -> [UInt8] {
    do throws(SignetError) {
      return try await session(container).send(
        .post, "/v1/device/transactions/\(transaction.text)/\(name)", body, signedBy: key,
        container: container.serverContainerID)
    } catch {
      if case .refused(let problem) = error, problem.code == .unknown { throw .noSuchTransaction }
      throw error
    }
  }
}
