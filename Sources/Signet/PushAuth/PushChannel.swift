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

  /// What waits at a server.
  package struct Waiting: Sendable {
    /// A message whose signature fits, and how it was delivered.
    package struct Message: Sendable {
      package let delivery: PushAuthDelivery
      package let message: PushAuthMessage
    }

    /// What waits.
    package fileprivate(set) var messages: [Message] = []
    /// How what has waited lately has ended, by message ids.
    package fileprivate(set) var ended: [String: RequestEnd] = [:]
    /// What the server calls the list.
    fileprivate let tag: String
  }

  /// What waits, now and after each change, for as long as it is asked for.
  ///
  /// Trouble is waited out as by ``Device/liveTransactions(for:by:noting:)``.
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
            asking: { (known: Waiting?) async throws(SignetFailure) in try await waiting(beyond: known?.tag)
            },
            isNew: { $0.messages.map(\.message) != $1?.messages.map(\.message) },
            handing: { stream.yield($0) })
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }

  private func waiting(beyond tag: String?) async throws(SignetFailure) -> Waiting? {
    let device = accounts.device
    let asked = PushAuthWaiting(time: device.clock.now, known: tag, seconds: Int64(device.longestWait))
    let response = try await accounts.response(
      to: PushAuthRequest.waiting(
        of: mechanism.mechanismID, asked, at: endpoints, cookie: cookie, key: key))
    guard response.status == 200 else { throw .pushAuthRefused(status: response.status) }
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
      for case .object(let sent) in try answer.array("messages") {
        let delivery = try PushAuthDelivery(map: sent)
        messages.append(Message(delivery: delivery, message: try delivery.verified(with: key)))
      }
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
    var channels: [PushChannel] = []
    for (id, record) in try await vaulted(Self.mechanisms(in: records)) where record.isLive {
      channels.append(
        PushChannel(
          mechanism: PushMechanism(record, id), accounts: self, endpoints: record.endpoints,
          cookie: record.loadBalancer, key: try record.readyKey()))
    }
    return channels
  }
}
