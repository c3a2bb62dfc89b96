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
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The list.
  /// - Throws: ``SignetFailure``.
  public func transactionList(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> TransactionList {
    let unlocked = try await unlock(container, key: .sessionTransport, by: authentication)
    let (sessionKey, decryptionKey) = (
      try unlocked.signingKey(VaultLayout.sessionKey, in: vault),
      try unlocked.agreementKey(VaultLayout.encryptionKey)
    )
    let body = try await session(container).send(
      .get, "/v1/device/transactions", signedBy: sessionKey, container: container.serverMadeID)
    do {
      return try TransactionList(decrypting: String(decoding: body, as: UTF8.self), with: decryptionKey)
    } catch { throw .unexpectedAnswer(status: 200) }
  }

  /// Signs a decision about a transaction and sends it.
  ///
  /// What is signed is the text of `transaction`, exactly, with the decision, the time, the transaction's end, and the names of
  /// server, user, container and device. Show `transaction.text` and nothing else. When the answer to a decision is lost,
  /// the same decision can be made again until the transaction ends.
  ///
  /// - Parameters:
  ///   - transaction: As ``pendingTransactions(for:by:)`` gave it.
  ///   - status: What the user decided.
  ///   - container: Who decides.
  ///   - authentication: What opens the signing key; `nil` where the device alone does, and where
  ///     ``verify(_:for:key:)`` has just kept what it opened, which this uses up.
  ///   - sessionAuthentication: What opens the session key; `nil` where the device alone does.
  /// - Throws: ``SignetFailure``; `passwordRequired` if there is nothing and nothing is kept; a wrong password changes nothing at the server.
  public func decide(
    _ transaction: TransactionRequest, _ status: DecisionStatus, with container: Container,
    by authentication: Authentication? = nil, session sessionAuthentication: Authentication? = nil
  ) async throws(SignetFailure) {
    guard transaction.statuses.contains(status) else { throw .decisionNotAllowed }
    let now = clock.now
    guard transaction.expires > now else { throw .transactionExpired }
    // First: a wrong password of this key does not use up what is kept for the other.
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let signingKey = try await unlockForSignature(container, by: authentication).signingKey(
      VaultLayout.signingKey, in: vault)
    let decision = Decision(
      status, of: transaction, at: now, server: container.server, user: container.user,
      container: container.serverMadeID, device: vault.deviceID.bytes)
    let jws = try await decision.signed(for: signingKey.publicKey) {
      (message) async throws(SignetFailure) in try await signingKey.signature(of: message)
    }
    let body: JSONObject = ["decision": .string(jws)]
    let answer: [UInt8]
    do throws(SignetFailure) {
      answer = try await session(container).send(
        .post, "/v1/device/transactions/\(transaction.id.text)/decision", JSONValue.object(body).bytes,
        signedBy: sessionKey, container: container.serverMadeID)
    } catch {
      if case .refused(let problem) = error, problem.code == .unknown { throw .noSuchTransaction }
      throw error
    }
    try StatusAnswer.check(answer, is: status.rawValue)
  }
}
