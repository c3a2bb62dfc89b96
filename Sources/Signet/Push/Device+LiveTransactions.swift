import SignetTransport
import SignetVault
public import SignetWire

/// A list of transactions, and what the server knows it by.
public struct KnownTransactionList: Hashable, Sendable {
  /// The list.
  public let list: TransactionList
  /// The server's name for it; `nil` where it gave none, so that there is nothing to wait beyond.
  let tag: String?
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
  public func transactionList(
    beyond known: KnownTransactionList?, for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> KnownTransactionList? {
    let unlocked = try await unlock(container, key: .sessionTransport, by: authentication)
    let (sessionKey, decryptionKey) = (
      try unlocked.signingKey(VaultLayout.sessionKey, in: vault),
      try unlocked.agreementKey(VaultLayout.encryptionKey)
    )
    var headers: [(String, String)] = []
    if let known {
      guard let tag = known.tag else { throw .unexpectedAnswer(status: 200) }
      headers = [("If-None-Match", tag), ("Prefer", "wait=\(longestWait)")]
    }
    let session = try await session(container)
    let (answer, id) = try await session.exchange(
      .get, "/v1/device/transactions", headers: headers, signedBy: sessionKey,
      container: container.serverMadeID)
    if answer.status == 304 { return nil }
    let list = try await list(in: answer.body, answering: id, for: container, session, decryptionKey)
    return KnownTransactionList(list: list, tag: answer.header("ETag"))
  }

  private var longestWait: Int {
    connection.timeoutSeconds == 0 ? 50 : min(50, max(1, connection.timeoutSeconds - 5))
  }

  /// The lists of transactions of a container, one now and one after each change, for as long as they are asked for.
  ///
  /// Trouble with the network is waited out: 1 s, then twice as long each time, at most 30 s. What does not pass ends the
  /// sequence with its ``SignetFailure``.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The lists.
  public func liveTransactions(
    for container: Container, by authentication: Authentication? = nil
  ) -> AsyncThrowingStream<TransactionList, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        var known: KnownTransactionList?
        var wait = 1
        while !Task.isCancelled {
          do throws(SignetFailure) {
            let next = try await transactionList(beyond: known, for: container, by: authentication)
            wait = 1
            if let next {
              known = next
              stream.yield(next.list)
            }
          } catch {
            guard error.mayPass else { return stream.finish(throwing: error) }
            do { try await Task.sleep(for: .seconds(wait)) } catch { break }
            wait = min(wait * 2, 30)
          }
        }
        stream.finish()
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }
}

extension SignetFailure {
  /// Whether the same request may be answered a little later.
  fileprivate var mayPass: Bool {
    switch self {
    case .transport(.timedOut), .transport(.unreachable), .transport(.noResponse),
      .transport(.incompleteResponse), .transport(.tlsRefused):
      true
    case .refused(let problem): problem.code == .busy || problem.code == .serverFailure
    case .vault(.busy): true
    default: false
    }
  }
}
