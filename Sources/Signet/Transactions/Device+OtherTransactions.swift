import SignetCrypto
import SignetJSON
import SignetTransport
import SignetVault
public import SignetWire

extension Device {
  // MARK: A transaction for anybody

  /// The container with which what was scanned can be decided; no network is used.
  ///
  /// - Parameters:
  ///   - server: Where the transaction is.
  ///   - user: Which of several is meant; `nil` where there may be one only.
  /// - Returns: The container.
  /// - Throws: ``SignetFailure/noSuchContainer``, and ``SignetFailure/severalContainers(_:)`` with those of which the user has to
  ///   choose one.
  public func container(
    at server: ServerURL, user: UserID? = nil
  ) async throws(SignetFailure) -> Container {
    let found = try await containers(matching: ContainerFilter(user: user, server: server))
    guard let only = found.first else { throw .noSuchContainer }
    guard found.count == 1 else { throw .severalContainers(found) }
    return only
  }

  /// A transaction by its id: one of the container's user, or one that was scanned and is for anybody.
  ///
  /// Whoever decides the latter becomes its user.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - container: Who asks.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The transaction.
  /// - Throws: ``SignetFailure``: `noSuchTransaction`, or how it has ended.
  public func transaction(
    _ id: TransactionID, for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> TransactionRequest {
    try await transaction(id, for: container, with: listKeys(of: container, by: authentication))
  }

  func transaction(
    _ id: TransactionID, for container: Container, with keys: ListKeys
  ) async throws(SignetFailure) -> TransactionRequest {
    let session = try await session(container)
    let exchanged: (response: HTTPResponse, id: [UInt8])
    do throws(SignetFailure) {
      exchanged = try await session.exchange(
        .get, "/v1/device/transactions/\(id.text)", signedBy: keys.session, container: container.serverMadeID)
    } catch {
      if case .refused(let problem) = error, problem.code == .unknown { throw .noSuchTransaction }
      throw error
    }
    let list = try await list(
      in: exchanged.response.body, answering: exchanged.id, for: container, session, keys.encryption)
    guard list.transactions.count == 1, let found = list.transactions.first, found.id == id else {
      throw .unexpectedAnswer(status: 200)
    }
    return found
  }

  // MARK: At the user's own wish

  /// Signs something without being asked, and sends it: an order or a sign-in that begins on the device.
  ///
  /// What was signed waits at the server for the relying party. When the answer is lost, nobody knows whether it arrived: look
  /// before signing again.
  ///
  /// - Parameters:
  ///   - matter: What the user wants; show it first.
  ///   - lifetime: How long the relying party may take it for new, in seconds, at most a day.
  ///   - container: Whose wish it is.
  ///   - authentication: What opens the signing key; `nil` where the device alone does.
  ///   - sessionAuthentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The transaction's id.
  /// - Throws: ``SignetFailure``; ``SignetFailure/contentRefused(_:)`` for what would not show as it is.
  public func initiate(
    _ matter: TransactionContent.Matter, lifetime: Int64 = 300, with container: Container,
    by authentication: Authentication? = nil, session sessionAuthentication: Authentication? = nil
  ) async throws(SignetFailure) -> TransactionID {
    try await requireUnlocked(container)
    let content: TransactionContent
    do { content = try TransactionContent(matter, from: .device) } catch { throw .contentRefused(error) }
    let now = clock.now
    let request = TransactionRequest(
      id: TransactionID(random: random), content: content, created: now, expires: now + lifetime)
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let jws = try await sign(request, .accepted, at: now, with: container, by: authentication)
    let body: JSONObject = ["decision": .string(jws)]
    let answer = try await session(container).send(
      .post, "/v1/device/initiated", JSONValue.object(body).bytes, signedBy: sessionKey,
      container: container.serverMadeID)
    try StatusAnswer.check(answer, is: DecisionStatus.accepted.rawValue)
    return request.id
  }

  // MARK: Without a network

  /// Reads a transaction that was carried here as a text, such as a QR code, and finds out that the server made it.
  ///
  /// - Parameter text: What was scanned.
  /// - Returns: The transaction, and the container that it is for.
  /// - Throws: ``SignetFailure``: `noSuchContainer` where it is for somebody else, `serverKeyUnknown` where the server signs with a
  ///   key that this device has not met, `transactionExpired`.
  public func offlineTransaction(
    scanned text: String
  ) async throws(SignetFailure) -> (transaction: OfflineTransaction, container: Container) {
    let claimed: (server: ServerURL, user: UserID)
    do { claimed = try OfflineTransaction.claimed(by: text) } catch { throw .contentRefused(error) }
    let container = try await container(at: claimed.server, user: claimed.user)
    guard let key = try await facts(of: container).serverKey else { throw .serverKeyUnknown }
    let transaction: OfflineTransaction
    do { transaction = try OfflineTransaction(verifying: text, signedBy: key) } catch {
      if error == .notAuthentic { throw .serverKeyUnknown }
      throw .contentRefused(error)
    }
    guard transaction.expires > clock.now else { throw .transactionExpired }
    return (transaction, container)
  }

  /// The digits by which a user approves a transaction without a network: typed where the transaction came from.
  ///
  /// Show all of the content first.
  ///
  /// - Parameters:
  ///   - transaction: As ``offlineTransaction(scanned:)`` gave it.
  ///   - container: Likewise.
  ///   - authentication: What opens the key of one-time passwords; `nil` where the device alone does.
  /// - Returns: 8 digits.
  /// - Throws: ``SignetFailure``.
  public func offlineAnswer(
    to transaction: OfflineTransaction, with container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> String {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    return transaction.answer(otpSecret: secret, container: container.serverMadeID)
  }

  /// The digits by which a user approves a transaction that this device does not see: typed where the challenge came from.
  ///
  /// Show the values first, and say that nothing else is known here: who asks, for what, and to whose good. The digits are good for
  /// one transaction, which these values describe; without values they may be good for any.
  ///
  /// - Parameters:
  ///   - approval: What the user typed.
  ///   - container: With which container; the challenge does not say.
  ///   - authentication: What opens the key of one-time passwords; `nil` where the device alone does.
  /// - Returns: 8 digits.
  /// - Throws: ``SignetFailure``.
  public func typedAnswer(
    to approval: TypedApproval, with container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> String {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    return approval.answer(otpSecret: secret, container: container.serverMadeID)
  }
}
