import SignetJSON
package import SignetPushAuth
import SignetTransport
import SignetVault

/// A push mechanism whose server is asked what waits, without what has opened the accounts.
package struct PushChannel: Sendable {
  /// The mechanism.
  package let mechanism: PushMechanism
  fileprivate let accounts: Accounts
  fileprivate let endpoints: PushAuthEndpoints
  fileprivate let cookie: String?
  fileprivate let key: PushAuthKey

  /// How long the answer of a server is waited for that is asked before a command goes on, in seconds.
  package static let shortWait = 5

  /// What waits at a server.
  package struct Waiting: Sendable {
    /// The most messages of a list that are taken; what else a server lists is not looked at.
    package static let limit = 64

    /// A message whose signature fits, and how it was delivered.
    package struct Message: Sendable {
      package let delivery: PushAuthDelivery
      package let message: PushAuthMessage
    }

    /// What waits, and this device has received.
    package var messages: [Message] = []
    /// Why this device does not take others that wait: the first reason of what may be many.
    package var failure: SignetFailure?
    /// How what has waited lately has ended, by message ids.
    package fileprivate(set) var ended: [String: RequestEnd] = [:]
    /// What the server calls the list.
    fileprivate let tag: String
    /// What waits by the server's list, whatever this device takes of it.
    fileprivate let listed: [PushAuthMessage]
  }

  /// What waits, now and after each change, for as long as it is asked for.
  ///
  /// Trouble is waited out as by ``Device/liveTransactions(for:by:noting:)``. Messages are received before they are given, where the
  /// accounts open without a password; else whoever has it receives them: ``Accounts/receiveWaiting(by:)``.
  ///
  /// - Parameter note: Is told when the server is not reached any more, and with `nil` when it is again.
  /// - Returns: What waits.
  package func lists(
    noting note: @escaping @Sendable (SignetFailure?) -> Void
  ) -> AsyncThrowingStream<Waiting, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(SignetFailure) {
          try await accounts.device.follow(
            pausing: { try await Task.sleep(for: $0) }, waitingOut: { $0.mayPass }, noting: note,
            asking: { (known: Waiting?) async throws(SignetFailure) in try await kept(beyond: known) },
            isNew: { $0.listed != $1?.listed }, handing: { stream.yield($0) })
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }

  private func kept(beyond known: Waiting?) async throws(SignetFailure) -> Waiting {
    let next: Waiting
    do throws(SignetFailure) { next = try await waiting(beyond: known?.tag) } catch {
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
    return try await accounts.keep(next, of: mechanism.id, in: unlocked)
  }

  /// Asks the server once.
  ///
  /// - Parameters:
  ///   - tag: What the server calls the list that is known; it waits for another one then.
  ///   - seconds: After how long its answer is not waited for any more; `nil` for as long as the device waits for any.
  /// - Returns: What waits.
  /// - Throws: ``SignetFailure``.
  fileprivate func waiting(
    beyond tag: String?, within seconds: Int? = nil
  ) async throws(SignetFailure) -> Waiting {
    let device = accounts.device
    let asked = PushAuthWaiting(time: device.clock.now, known: tag, seconds: Int64(device.longestWait))
    let response = try await accounts.response(
      to: PushAuthRequest.waiting(
        of: mechanism.mechanismID, asked, at: endpoints, cookie: cookie, key: key), within: seconds)
    guard response.status == 200 else { throw PushRefusal(response).failureOfWaiting }
    return try Waiting(parsing: response.body, key: key)
  }
}

extension PushChannel.Waiting {
  /// Reads a server's answer.
  ///
  /// - Parameters:
  ///   - body: The answer's body.
  ///   - key: The key of the mechanism, which has signed the messages.
  /// - Throws: ``SignetFailure/pushAuth(_:)`` for a message that the key has not signed, or
  ///   ``SignetFailure/unexpectedAnswer(status:)``.
  init(parsing body: [UInt8], key: PushAuthKey) throws(SignetFailure) {
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
  /// The push mechanisms whose servers are asked what waits.
  ///
  /// Whoever listens keeps the secrets of these, and not what has opened the accounts.
  ///
  /// - Parameter password: What opens the accounts, where they have one.
  /// - Returns: The channels.
  /// - Throws: ``SignetFailure``.
  package func pushChannels(by password: SharedSecretBox?) async throws(SignetFailure) -> [PushChannel] {
    guard let records = try await opened(by: password) else { return [] }
    return try await channels(in: records)
  }

  /// Asks the servers of those push mechanisms that nothing is pushed to what waits, all at once, and receives it.
  ///
  /// A server that does not answer within 5 s is one that could not be asked.
  ///
  /// - Parameter password: What opens the accounts, where they have one.
  /// - Returns: Which servers could not be asked, or have something that was not taken, and why.
  /// - Throws: What the vault says.
  package func receiveWaiting(
    by password: SharedSecretBox?
  ) async throws(SignetFailure) -> [(mechanism: PushMechanism, failure: SignetFailure)] {
    guard let unlocked = try await open(by: password) else { return [] }
    let channels = try await channels(in: vaulted(unlocked.openedRecords()))
    var failures: [(mechanism: PushMechanism, failure: SignetFailure)] = []
    for (channel, answer) in zip(channels, await answers(to: channels)) {
      switch answer {
      case .failure(let failure):
        if failure == .pushAuth(.notEnrolled) { try await endAll(of: channel.mechanism.id, in: unlocked) }
        failures.append((channel.mechanism, failure))
      case .success(let waiting):
        let kept = try await keep(waiting, of: channel.mechanism.id, in: unlocked)
        if let failure = kept.failure { failures.append((channel.mechanism, failure)) }
      }
    }
    return failures
  }

  /// Asks all servers at once, and none for long: a slow one must not hold up what another one has.
  private func answers(
    to channels: [PushChannel]
  ) async -> [Result<PushChannel.Waiting, SignetFailure>] {
    await withTaskGroup { group in
      for (index, channel) in channels.enumerated() {
        group.addTask {
          do throws(SignetFailure) {
            let waiting = try await channel.waiting(beyond: nil, within: PushChannel.shortWait)
            return (index, Result<PushChannel.Waiting, SignetFailure>.success(waiting))
          } catch { return (index, .failure(error)) }
        }
      }
      var answers: [(index: Int, answer: Result<PushChannel.Waiting, SignetFailure>)] = []
      for await answer in group { answers.append(answer) }
      return answers.sorted { $0.index < $1.index }.map(\.answer)
    }
  }

  private func channels(in records: OpenRecords) async throws(SignetFailure) -> [PushChannel] {
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
