import SignetCrypto
import SignetHTTPClient
public import SignetProtocol
import SignetVault
import Synchronization

/// A list of transactions with the server's `ETag` for it.
package struct KnownTransactionList: Hashable, Sendable {
  /// The list.
  package let list: TransactionList
  /// The `ETag`; `nil` if the server sent none, then the next request cannot wait for a change.
  let tag: String?
}

/// The state of a live channel's connection, reported once for each change.
@nonexhaustive public enum LiveChannelState: Hashable, Sendable {
  /// The server cannot be reached, cannot answer now, or has suspended the user, device or container; the request is retried.
  case interrupted(SignetError)
  /// The server answers again.
  case restored
}

extension Device {
  /// Fetches the pending transactions of the container's user as soon as they differ from a known list.
  ///
  /// This is the live channel, which needs no push service. The server holds the request open for at most 50 seconds, and
  /// for 5 seconds less than the time-out of ``connection``.
  ///
  /// - Parameters:
  ///   - previous: The result of an earlier call; `nil` for an immediate answer.
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The list; `nil` if nothing changed.
  /// - Throws: ``SignetError``.
  package func transactionList(
    beyond previous: KnownTransactionList?, for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> KnownTransactionList? {
    try await transactionList(
      beyond: previous, for: container, with: sessionKeys(of: container, by: authentication))
  }

  /// The keys that sign requests and decrypt lists, without the credential that opened them.
  package struct SessionKeys: Sendable {
    let session: ContainerSigningKey
    let encryption: P256.KeyAgreement.PrivateKey
    let slot: OpenedSlot
  }

  /// Opens the keys of a container's requests, for several requests with one credential.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The keys.
  /// - Throws: ``SignetError``.
  package func sessionKeys(
    of container: Container, by authentication: Authentication?
  ) async throws(SignetError) -> SessionKeys {
    let unlocked = try await unlock(container, key: .sessionTransport, by: authentication)
    return SessionKeys(
      session: try unlocked.signingKey(VaultLayout.sessionKey, in: vault),
      encryption: try unlocked.agreementKey(VaultLayout.encryptionKey), slot: unlocked.openedSlot)
  }

  func transactionList(
    beyond previous: KnownTransactionList?, for container: Container, with keys: SessionKeys
  ) async throws(SignetError) -> KnownTransactionList? {
    var headers: [(String, String)] = []
    if let previous {
      guard let tag = previous.tag else { throw .unexpectedAnswer(status: 200) }
      headers = [("If-None-Match", tag), ("Prefer", "wait=\(longestWait)")]
    }
    let session = try await session(container)
    let (answer, id): (HTTPResponse, [UInt8])
    do throws(SignetError) {
      (answer, id) = try await session.exchange(
        .get, "/v1/device/transactions", headers: headers, signedBy: keys.session,
        container: container.serverContainerID)
    } catch {
      // If the user is suspended, the device learns of a lock or a wipe only through a report.
      if case .refused(let problem) = error, problem.code == .userNotActive {
        _ = try await sendRequestedReport(for: container, with: keys.session)
      }
      throw error
    }
    if answer.status == 304 { return nil }
    let list = try await list(in: answer.body, answering: id, for: container, session, keys.encryption)
    return KnownTransactionList(list: list, tag: answer.header("ETag"))
  }

  var longestWait: Int {
    connection.timeoutSeconds == 0 ? 50 : min(50, max(1, connection.timeoutSeconds - 5))
  }

  /// Streams a container's lists of transactions, initially and after each change, until the stream is cancelled.
  ///
  /// The session key is opened once and kept until the stream ends, because each opening with a password is a counted
  /// attempt. Passing failures are retried after 1 s, then after twice the wait each time, at most 30 s. They are network
  /// failures, status 408, 425, 429 or 5xx of a proxy, a suspended user, a server's lock and immediate answers without a
  /// change. Any other failure ends the stream with its ``SignetError``.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  ///   - notify: Receives the state when the server becomes unreachable and when it is reachable again.
  /// - Returns: The stream of lists.
  public func liveTransactions(
    for container: Container, by authentication: Authentication? = nil,
    noting notify: @escaping @Sendable (LiveChannelState) -> Void = { _ in }
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    liveTransactions(for: container, by: authentication, noting: notify) { try await Task.sleep(for: $0) }
  }

  /// The same stream with an injected wait between requests, for tests.
  package func liveTransactions(
    for container: Container, by authentication: Authentication? = nil,
    noting notify: @escaping @Sendable (LiveChannelState) -> Void = { _ in },
    pausing pause: @escaping @Sendable (Duration) async throws -> Void
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    // The task and its captured values live for hours, so the password is removed after its use.
    let opening = Mutex(authentication)
    return lists(of: container, noting: notify, pausing: pause) { () async throws(SignetError) in
      try await self.sessionKeys(of: container, by: opening.withLock { $0.take() })
    }
  }

  /// Opens the keys that the live channel needs, so that the caller need not keep the credential.
  ///
  /// - Throws: ``SignetError``.
  package func liveChannel(
    for container: Container, by authentication: Authentication?
  ) async throws(SignetError) -> LiveChannel {
    LiveChannel(
      device: self, container: container, keys: try await sessionKeys(of: container, by: authentication))
  }

  fileprivate func lists(
    of container: Container, noting notify: @escaping @Sendable (LiveChannelState) -> Void,
    pausing pause: @escaping @Sendable (Duration) async throws -> Void,
    opening keys: @escaping @Sendable () async throws(SignetError) -> SessionKeys
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(SignetError) {
          try await follow(container, with: keys(), notify, pause) { stream.yield($0) }
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }
}

/// The keys of a live channel, without the credential that opened them.
package struct LiveChannel: Sendable {
  fileprivate let device: Device
  fileprivate let container: Container
  fileprivate let keys: Device.SessionKeys

  /// Streams the lists like ``Device/liveTransactions(for:by:noting:)``.
  package func transactions(
    noting notify: @escaping @Sendable (LiveChannelState) -> Void
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    device.lists(of: container, noting: notify, pausing: { try await Task.sleep(for: $0) }) { keys }
  }
}

extension LiveChannel {
  /// Queries the end of a transaction that is no longer pending.
  ///
  /// - Parameter id: The transaction's ID.
  /// - Returns: The end; `nil` if it cannot be determined.
  package func end(of id: TransactionID) async -> RequestEnd? {
    do throws(SignetError) { _ = try await device.transaction(id, for: container, with: keys) } catch {
      switch error {
      case .transactionDecided: return .answered
      case .transactionCancelled: return .withdrawn
      case .transactionExpired: return .expired
      default: return nil
      }
    }
    return nil
  }
}

extension Device {
  /// Delivers each changed list, until the task is cancelled.
  private func follow(
    _ container: Container, with keys: SessionKeys, _ notify: (LiveChannelState) -> Void,
    _ sleep: (Duration) async throws -> Void, _ deliver: (TransactionList) -> Void
  ) async throws(SignetError) {
    var isReportDue = false
    try await follow(
      pausing: sleep, waitingOut: { $0.mayPass },
      noting: { notify($0.map { .interrupted($0) } ?? .restored) },
      asking: { (previous: KnownTransactionList?) async throws(SignetError) in
        try await transactionList(beyond: previous, for: container, with: keys)
      }, isNew: { $0.list != $1?.list }, handing: { deliver($0.list) }
    ) { next throws(SignetError) in
      isReportDue = next?.list.isReportRequested ?? isReportDue
      if isReportDue { isReportDue = try await !self.sendRequestedReport(for: container, with: keys.session) }
    }
  }
}

extension Device {
  /// Sends a report that the server asked for, and carries out its commands.
  ///
  /// - Returns: True if the report succeeded. A failure is not thrown, because it must not interrupt the caller's other work.
  /// - Throws: ``SignetError/containerWiped`` if the server ordered the deletion of the container, which is then deleted.
  func sendRequestedReport(
    for container: Container, with key: ContainerSigningKey
  ) async throws(SignetError) -> Bool {
    let outcome: AccountReportOutcome
    do { outcome = try await reportCondition(of: container, signedBy: key) } catch { return false }
    if case .wiped = outcome { throw .containerWiped }
    return true
  }
}

extension SignetError {
  /// Indicates whether a later retry of the same request may succeed.
  var mayPass: Bool {
    switch self {
    case .transport(.timedOut), .transport(.unreachable), .transport(.noResponse),
      .transport(.incompleteResponse), .transport(.tlsRefused):
      true
    case .refused(let problem): problem.code == .busy || problem.code == .serverFailure || isHeld
    // A proxy whose server restarts or is too slow.
    case .unexpectedAnswer(let status), .pushAuthRefused(let status, _): HTTPResponse(status: status).mayPass
    case .vault(.busy): true
    default: false
    }
  }

  /// Indicates whether the server has suspended or locked the user, the device or the container until an operator lifts that.
  package var isHeld: Bool {
    guard case .refused(let problem) = self else { return false }
    return [.userNotActive, .deviceLocked, .containerLocked].contains(problem.code)
  }
}
