import SignetCrypto
import SignetTransport
import SignetVault
public import SignetWire
import Synchronization

/// A list of transactions, and what the server knows it by.
package struct KnownTransactionList: Hashable, Sendable {
  /// The list.
  package let list: TransactionList
  /// The server's name for it; `nil` where it gave none, so that there is nothing to wait beyond.
  let tag: String?
}

/// What becomes of the connection of a live channel, told once each time that it changes.
@nonexhaustive public enum LiveChannelState: Hashable, Sendable {
  /// The server is not reached, cannot answer now, or does not let the user or the device go on; it is tried again.
  case interrupted(SignetFailure)
  /// The server answers again.
  case restored
}

extension Device {
  /// The transactions that wait for the container's user, as soon as they are others than those that are known.
  ///
  /// The request is kept open at the server for 50 seconds at most, or 5 seconds less than the time limit of
  /// ``connection``: the live channel, which needs no service of others.
  ///
  /// - Parameters:
  ///   - known: What an earlier call gave; `nil` to be answered at once.
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The list; `nil` where it stayed as it was.
  /// - Throws: ``SignetFailure``.
  package func transactionList(
    beyond known: KnownTransactionList?, for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> KnownTransactionList? {
    try await transactionList(
      beyond: known, for: container, with: listKeys(of: container, by: authentication))
  }

  /// What a list is asked for and opened with.
  struct ListKeys: Sendable {
    let session: DeviceSigningKey
    let encryption: P256.KeyAgreement.PrivateKey
  }

  func listKeys(
    of container: Container, by authentication: Authentication?
  ) async throws(SignetFailure) -> ListKeys {
    let unlocked = try await unlock(container, key: .sessionTransport, by: authentication)
    return ListKeys(
      session: try unlocked.signingKey(VaultLayout.sessionKey, in: vault),
      encryption: try unlocked.agreementKey(VaultLayout.encryptionKey))
  }

  private func transactionList(
    beyond known: KnownTransactionList?, for container: Container, with keys: ListKeys
  ) async throws(SignetFailure) -> KnownTransactionList? {
    var headers: [(String, String)] = []
    if let known {
      guard let tag = known.tag else { throw .unexpectedAnswer(status: 200) }
      headers = [("If-None-Match", tag), ("Prefer", "wait=\(longestWait)")]
    }
    let session = try await session(container)
    let (answer, id): (HTTPResponse, [UInt8])
    do throws(SignetFailure) {
      (answer, id) = try await session.exchange(
        .get, "/v1/device/transactions", headers: headers, signedBy: keys.session,
        container: container.serverMadeID)
    } catch {
      // The device of a suspended user hears of a lock or a wipe only where it asks for orders.
      if case .refused(let problem) = error, problem.code == .userNotActive {
        _ = try await meetsWish(for: container, with: keys.session)
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

  /// The lists of transactions of a container, one now and one after each change, for as long as they are asked for.
  ///
  /// The session key is opened once, and kept until the sequence ends: each opening with a password is an attempt that is
  /// counted. Trouble with the network, a proxy without its server (any 5xx), a suspended user, a lock of the server's, and a server that
  /// answers at once with nothing new, are waited out: 1 s, then twice as long each time, at most 30 s. What does not pass ends the
  /// sequence with its ``SignetFailure``.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  ///   - note: Is told when the server is not reached any more, and when it is again.
  /// - Returns: The lists.
  public func liveTransactions(
    for container: Container, by authentication: Authentication? = nil,
    noting note: @escaping @Sendable (LiveChannelState) -> Void = { _ in }
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    liveTransactions(for: container, by: authentication, noting: note) { try await Task.sleep(for: $0) }
  }

  /// The same, with another way to wait between requests; tests do not wait.
  package func liveTransactions(
    for container: Container, by authentication: Authentication? = nil,
    noting note: @escaping @Sendable (LiveChannelState) -> Void = { _ in },
    pausing pause: @escaping @Sendable (Duration) async throws -> Void
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    // The task lives for hours, and so does what it captures: the password is taken out of that.
    let opening = Mutex(authentication)
    return lists(of: container, noting: note, pausing: pause) { () async throws(SignetFailure) in
      try await self.listKeys(of: container, by: opening.withLock { $0.take() })
    }
  }

  /// Opens the keys that listening needs, so that the caller need not keep what opens them.
  ///
  /// - Throws: ``SignetFailure``.
  package func liveChannel(
    for container: Container, by authentication: Authentication?
  ) async throws(SignetFailure) -> LiveChannel {
    LiveChannel(
      device: self, container: container, keys: try await listKeys(of: container, by: authentication))
  }

  fileprivate func lists(
    of container: Container, noting note: @escaping @Sendable (LiveChannelState) -> Void,
    pausing pause: @escaping @Sendable (Duration) async throws -> Void,
    opening keys: @escaping @Sendable () async throws(SignetFailure) -> ListKeys
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(SignetFailure) {
          try await follow(container, with: keys(), note, pause) { stream.yield($0) }
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }
}

/// What a container's lists of transactions are asked for and opened with, without what has opened it.
package struct LiveChannel: Sendable {
  fileprivate let device: Device
  fileprivate let container: Container
  fileprivate let keys: Device.ListKeys

  /// The lists, as ``Device/liveTransactions(for:by:noting:)`` gives them.
  package func transactions(
    noting note: @escaping @Sendable (LiveChannelState) -> Void
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    device.lists(of: container, noting: note, pausing: { try await Task.sleep(for: $0) }) { keys }
  }
}

extension LiveChannel {
  /// How a transaction that waits no more has ended.
  ///
  /// - Parameter id: The transaction.
  /// - Returns: `nil` where that cannot be found out.
  package func end(of id: TransactionID) async -> RequestEnd? {
    do throws(SignetFailure) { _ = try await device.transaction(id, for: container, with: keys) } catch {
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
  /// Hands on each list that is another one, until the task is cancelled.
  private func follow(
    _ container: Container, with keys: ListKeys, _ note: (LiveChannelState) -> Void,
    _ sleep: (Duration) async throws -> Void, _ hand: (TransactionList) -> Void
  ) async throws(SignetFailure) {
    var isReportDue = false
    try await follow(
      pausing: sleep, waitingOut: { $0.mayPass },
      noting: { note($0.map { .interrupted($0) } ?? .restored) },
      asking: { (known: KnownTransactionList?) async throws(SignetFailure) in
        try await transactionList(beyond: known, for: container, with: keys)
      }, isNew: { $0.list != $1?.list }, handing: { hand($0.list) }
    ) { next throws(SignetFailure) in
      isReportDue = next?.list.isReportWanted ?? isReportDue
      if isReportDue { isReportDue = try await !self.meetsWish(for: container, with: keys.session) }
    }
  }
}

extension Device {
  /// Tells a server what it wants to know of the device, and does what it has ordered.
  ///
  /// - Returns: Whether that is done; what cannot be done now must not keep anything else from being done.
  /// - Throws: ``SignetFailure/containerWiped`` where the container was to be deleted, and is.
  func meetsWish(
    for container: Container, with key: DeviceSigningKey
  ) async throws(SignetFailure) -> Bool {
    let outcome: AccountReportOutcome
    do { outcome = try await reportCondition(of: container, signedBy: key) } catch { return false }
    if case .wiped = outcome { throw .containerWiped }
    return true
  }
}

extension SignetFailure {
  /// Whether the same request may be answered a little later.
  var mayPass: Bool {
    switch self {
    case .transport(.timedOut), .transport(.unreachable), .transport(.noResponse),
      .transport(.incompleteResponse), .transport(.tlsRefused):
      true
    case .refused(let problem): problem.code == .busy || problem.code == .serverFailure || isHeld
    // A proxy whose server starts again, or is too slow.
    case .unexpectedAnswer(let status), .pushAuthRefused(let status, _): HTTPResponse(status: status).mayPass
    case .vault(.busy): true
    default: false
    }
  }

  /// Whether the server keeps the user, the device or the container from going on, until an operator lets them.
  package var isHeld: Bool {
    guard case .refused(let problem) = self else { return false }
    return [.userNotActive, .deviceLocked, .containerLocked].contains(problem.code)
  }
}
