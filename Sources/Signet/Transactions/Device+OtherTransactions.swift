import SignetCrypto
import SignetHTTPClient
import SignetJSON
public import SignetProtocol
import SignetVault

extension Device {
  // MARK: Scanned transactions

  /// Finds the container that can decide a scanned transaction; no network is used.
  ///
  /// - Parameters:
  ///   - server: The server of the transaction.
  ///   - user: The user, to choose one of several containers; `nil` if there is only one.
  /// - Returns: The container.
  /// - Throws: ``SignetError/noSuchContainer``, or ``SignetError/severalContainers(_:)`` with the containers from
  ///   which the user has to choose one.
  public func container(
    at server: ServerURL, user: UserID? = nil
  ) async throws(SignetError) -> Container {
    let found = try await containers(matching: ContainerFilter(user: user, server: server))
    guard let only = found.first else { throw .noSuchContainer }
    guard found.count == 1 else { throw .severalContainers(found) }
    return only
  }

  /// Fetches a transaction by its ID: one of the container's user, or a scanned one that any user may decide.
  ///
  /// The user who decides the latter becomes its user.
  ///
  /// - Parameters:
  ///   - id: The ID.
  ///   - container: The container that signs the request.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The transaction.
  /// - Throws: ``SignetError``: `noSuchTransaction`, or the way in which it has ended.
  public func transaction(
    _ id: TransactionID, for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> TransactionRequest {
    try await transaction(id, for: container, with: sessionKeys(of: container, by: authentication))
  }

  /// Fetches a transaction like ``transaction(_:for:by:)``, with open keys.
  package func transaction(
    _ id: TransactionID, for container: Container, with keys: SessionKeys
  ) async throws(SignetError) -> TransactionRequest {
    let session = try await session(container)
    let exchanged: (response: HTTPResponse, id: [UInt8])
    do throws(SignetError) {
      exchanged = try await session.exchange(
        .get, "/v1/device/transactions/\(id.text)", signedBy: keys.session,
        container: container.serverContainerID)
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

  // MARK: Transactions started by the user

  /// Signs a text, an order or a login that the user starts on the device, and sends it to the server.
  ///
  /// The server keeps it for the relying party. If the answer is lost, it is unknown whether the server has received it:
  /// check before signing again.
  ///
  /// - Parameters:
  ///   - body: The content to sign; show it first.
  ///   - lifetime: The time in which the relying party may accept it as new, in seconds, at most a day.
  ///   - container: The container that signs.
  ///   - authentication: The credential of the signing key; `nil` if the device opens it alone.
  ///   - sessionAuthentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The transaction's ID.
  /// - Throws: ``SignetError``; ``SignetError/contentRefused(_:)`` for a content that cannot be displayed exactly.
  public func initiate(
    _ body: TransactionContent.Body, lifetime: Int64 = 300, with container: Container,
    by authentication: Authentication? = nil, session sessionAuthentication: Authentication? = nil
  ) async throws(SignetError) -> TransactionID {
    try await requireUnlocked(container)
    let content: TransactionContent
    do { content = try TransactionContent(body, from: .device) } catch { throw .contentRefused(error) }
    let now = clock.now
    let request = TransactionRequest(
      id: TransactionID(random: random), content: content, created: now, expires: now + lifetime)
    let sessionKey = try await sessionKey(of: container, by: sessionAuthentication)
    let jws = try await sign(request, .accepted, at: now, with: container, by: authentication)
    let message: JSONObject = ["decision": .string(jws)]
    let answer = try await session(container).send(
      .post, "/v1/device/initiated", JSONValue.object(message).bytes, signedBy: sessionKey,
      container: container.serverContainerID)
    try StatusAnswer.check(answer, is: DecisionStatus.accepted.rawValue)
    return request.id
  }

  // MARK: Offline approval

  /// Parses a transaction that was transferred as a text, such as a QR code, and verifies the server's signature.
  ///
  /// - Parameter text: The scanned text.
  /// - Returns: The transaction, and the container that it is for.
  /// - Throws: ``SignetError``: `noSuchContainer` if it is for another user, `serverKeyUnknown` if the server signs
  ///   with a key that this device does not know, `transactionExpired`.
  public func offlineTransaction(
    scanned text: String
  ) async throws(SignetError) -> (transaction: OfflineTransaction, container: Container) {
    let claimed: (server: ServerURL, user: UserID)
    do { claimed = try OfflineTransaction.claimed(by: text) } catch { throw .contentRefused(error) }
    let container = try await container(at: claimed.server, user: claimed.user)
    guard let key = try await binding(of: container).serverKey else { throw .serverKeyUnknown }
    let transaction: OfflineTransaction
    do { transaction = try OfflineTransaction(verifying: text, signedBy: key) } catch {
      if error == .notAuthentic { throw .serverKeyUnknown }
      throw .contentRefused(error)
    }
    guard transaction.expires > clock.now else { throw .transactionExpired }
    return (transaction, container)
  }

  /// Computes the digits that approve a transaction without a network; the user types them where the transaction was shown.
  ///
  /// Show the complete content first.
  ///
  /// - Parameters:
  ///   - transaction: The result of ``offlineTransaction(scanned:)``.
  ///   - container: The container from the same result.
  ///   - authentication: The credential of the one-time password key; `nil` if the device opens it alone.
  /// - Returns: 8 digits.
  /// - Throws: ``SignetError``.
  public func offlineAnswer(
    to transaction: OfflineTransaction, with container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> String {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    return transaction.answer(otpSecret: secret, container: container.serverContainerID)
  }

  /// Computes the digits that approve a transaction that this device cannot display; the user types them where the challenge was shown.
  ///
  /// Show the typed values first, and say that this device does not know the rest: the requester, the purpose and the payee.
  /// The digits approve one transaction, which these values describe; without values they may approve any transaction.
  ///
  /// - Parameters:
  ///   - approval: The challenge and values that the user typed.
  ///   - container: The container; the challenge does not name it.
  ///   - authentication: The credential of the one-time password key; `nil` if the device opens it alone.
  /// - Returns: 8 digits.
  /// - Throws: ``SignetError``.
  public func typedAnswer(
    to approval: TypedApproval, with container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> String {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    return approval.answer(otpSecret: secret, container: container.serverContainerID)
  }
}
