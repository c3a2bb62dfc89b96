import SignetHTTPClient
import SignetJSON
package import SignetPushAuth
import SignetVault

/// A push mechanism whose server can be queried for pending messages without the password of the accounts.
package struct PushChannel: Sendable {
  /// The mechanism.
  package let mechanism: PushMechanism
  fileprivate let accounts: Accounts
  fileprivate let endpoints: PushAuthEndpoints
  fileprivate let cookie: String?
  fileprivate let key: PushAuthKey

  /// The time-out of a query that a command waits for, in seconds.
  package static let shortWait = 5

  /// The pending messages at a server.
  package struct Waiting: Sendable {
    /// The maximum number of messages that are read from a list; the rest of a longer list is ignored.
    package static let limit = 64

    /// A message with a verified signature, and its delivery.
    package struct Message: Sendable {
      package let delivery: PushAuthDelivery
      package let message: PushAuthMessage
    }

    /// The pending messages that this device has received.
    package var messages: [Message] = []
    /// The reason why this device rejected a pending message; only the first reason is kept.
    package var failure: SignetError?
    /// The end of recently pending messages, by message ID.
    package fileprivate(set) var ended: [String: RequestEnd] = [:]
    /// The server's tag of the list.
    fileprivate let tag: String
    /// All verified messages of the server's list, including those that this device rejects.
    fileprivate let listed: [PushAuthMessage]
  }

  /// Streams the pending messages, initially and after each change, until the stream is cancelled.
  ///
  /// Passing failures are retried with the waits of ``Device/liveTransactions(for:by:noting:)``. If the accounts have no
  /// password, the messages are stored before they are delivered to the stream. Otherwise the caller with the password
  /// must store them: ``Accounts/receiveWaiting(by:)``.
  ///
  /// - Parameter notify: Receives the failure when the server becomes unreachable, and `nil` when it is reachable again.
  /// - Returns: The stream.
  package func lists(
    noting notify: @escaping @Sendable (SignetError?) -> Void
  ) -> AsyncThrowingStream<Waiting, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(SignetError) {
          try await accounts.device.follow(
            pausing: { try await Task.sleep(for: $0) }, waitingOut: { $0.mayPass }, noting: notify,
            asking: { (previous: Waiting?) async throws(SignetError) in
              try await stored(beyond: previous)
            },
            isNew: { $0.listed != $1?.listed }, handing: { stream.yield($0) })
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }

  private func stored(beyond previous: Waiting?) async throws(SignetError) -> Waiting {
    let next: Waiting
    do throws(SignetError) { next = try await waiting(beyond: previous?.tag) } catch {
      if error == .pushAuth(.notEnrolled), try await !accounts.havePassword(),
        let unlocked = try await accounts.open(by: nil)
      {
        try await accounts.endAll(of: mechanism.id, in: unlocked)
      }
      throw error
    }
    guard try await !accounts.havePassword(), let unlocked = try await accounts.open(by: nil) else {
      return next
    }
    return try await accounts.store(next, of: mechanism.id, in: unlocked)
  }

  /// Queries the server once.
  ///
  /// - Parameters:
  ///   - tag: The tag of the known list; the server then waits for another list. `nil` for an immediate answer.
  ///   - seconds: The time-out of this query; `nil` for that of the device.
  /// - Returns: The pending messages.
  /// - Throws: ``SignetError``.
  fileprivate func waiting(
    beyond tag: String?, within seconds: Int? = nil
  ) async throws(SignetError) -> Waiting {
    let device = accounts.device
    let query = PushAuthWaiting(time: device.clock.now, known: tag, seconds: Int64(device.longestWait))
    let response = try await accounts.response(
      to: PushAuthRequest.waiting(
        of: mechanism.mechanismID, query, at: endpoints, cookie: cookie, key: key), within: seconds)
    guard response.status == 200 else { throw PushRefusal(response).failureOfWaiting }
    return try Waiting(parsing: response.body, key: key)
  }
}

extension PushChannel.Waiting {
  /// Parses a server's answer and verifies its messages.
  ///
  /// - Parameters:
  ///   - body: The body of the answer.
  ///   - key: The key of the mechanism, which has signed the messages.
  /// - Throws: ``SignetError/pushAuth(_:)`` for a message that the key has not signed, or ``SignetError/unexpectedAnswer(status:)``.
  init(parsing body: [UInt8], key: PushAuthKey) throws(SignetError) {
    do {
      let answer = try JSONObject(parsing: body, limits: JSONLimits(maximumByteCount: 4 << 20))
      tag = try answer.string("tag")
      for case .object(let ended) in try answer.array("ended") {
        self.ended[try ended.string("messageId")] = Self.end(try ended.string("status"))
      }
      let sent = try answer.array("messages")
      if sent.count > Self.limit { failure = .pushAuth(.tooManyMessages(limit: Self.limit)) }
      for case .object(let sent) in sent.prefix(Self.limit) {
        let delivery = try PushAuthDelivery(map: sent)
        messages.append(Message(delivery: delivery, message: try delivery.verified(with: key)))
      }
      listed = messages.map(\.message)
    } catch let failure as PushAuthFailure { throw .pushAuth(failure) } catch {
      throw .unexpectedAnswer(status: 200)
    }
  }

  private static func end(_ status: String) -> RequestEnd? {
    switch status {
    case "approved", "accepted", "denied", "reported": .answered
    case "cancelled", "withdrawn": .withdrawn
    case "expired": .expired
    default: nil
    }
  }
}

extension Accounts {
  /// Returns the push mechanisms that receive no pushes, so that their servers must be queried.
  ///
  /// A listener thus keeps only the secrets of these mechanisms, not the password of the accounts.
  ///
  /// - Parameter password: The password of the accounts, if they have one.
  /// - Returns: The channels.
  /// - Throws: ``SignetError``.
  package func pushChannels(by password: SharedSecretBox?) async throws(SignetError) -> [PushChannel] {
    guard let records = try await opened(by: password) else { return [] }
    return try await channels(in: records)
  }

  /// Queries the servers of mechanisms without pushes concurrently, and stores their pending messages.
  ///
  /// A server without an answer within 5 s is reported as a failure.
  ///
  /// - Parameter password: The password of the accounts, if they have one.
  /// - Returns: The servers that could not be queried or whose messages were rejected, with the reason.
  /// - Throws: ``SignetError`` of the vault.
  package func receiveWaiting(
    by password: SharedSecretBox?
  ) async throws(SignetError) -> [(mechanism: PushMechanism, failure: SignetError)] {
    guard let unlocked = try await open(by: password) else { return [] }
    let channels = try await channels(in: vaulted(unlocked.openedRecords()))
    var failures: [(mechanism: PushMechanism, failure: SignetError)] = []
    for (channel, answer) in zip(channels, await answers(to: channels)) {
      switch answer {
      case .failure(let failure):
        if failure == .pushAuth(.notEnrolled) { try await endAll(of: channel.mechanism.id, in: unlocked) }
        failures.append((channel.mechanism, failure))
      case .success(let waiting):
        let stored = try await store(waiting, of: channel.mechanism.id, in: unlocked)
        if let failure = stored.failure { failures.append((channel.mechanism, failure)) }
      }
    }
    return failures
  }

  /// Queries all servers concurrently with a short time-out, so a slow server does not delay the messages of another.
  private func answers(
    to channels: [PushChannel]
  ) async -> [Result<PushChannel.Waiting, SignetError>] {
    await withTaskGroup { group in
      for (index, channel) in channels.enumerated() {
        group.addTask {
          do throws(SignetError) {
            let waiting = try await channel.waiting(beyond: nil, within: PushChannel.shortWait)
            return (index, Result<PushChannel.Waiting, SignetError>.success(waiting))
          } catch { return (index, .failure(error)) }
        }
      }
      var answers: [(index: Int, answer: Result<PushChannel.Waiting, SignetError>)] = []
      for await answer in group { answers.append(answer) }
      return answers.sorted { $0.index < $1.index }.map(\.answer)
    }
  }

  private func channels(in records: OpenRecords) async throws(SignetError) -> [PushChannel] {
    var channels: [PushChannel] = []
    for (id, record) in try await vaulted(Self.mechanisms(in: records)) where record.isLive {
      channels.append(
        PushChannel(
          mechanism: try await vaulted(PushMechanism(record, id, in: records)), accounts: self,
          endpoints: record.endpoints, cookie: record.loadBalancer, key: try record.readyKey()))
    }
    return channels
  }
}
