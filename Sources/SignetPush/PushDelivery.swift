import SignetHTTPClient
package import SignetProtocol
package import SignetSystem

/// The result of a delivery.
package enum PushOutcome: Hashable, Sendable {
  /// A service accepted the message.
  case accepted
  /// The target no longer exists: delete it.
  case targetGone
  /// The message could not be sent; the device can still poll.
  case failed(PushFailure)
  /// The message expired or is no longer wanted.
  case expired
}

/// The delivery of messages through push services, with retries.
///
/// After a temporary failure it waits 1 s, then twice as long each time, at most 32 s, or as long as the service requests.
/// It stops when the message expires.
package struct PushDelivery: Sendable {
  private let dispatchers: [PushTarget.Service: any PushDispatcher]
  private let clock: any WallClock
  private let pause: @Sendable (Duration) async throws(CancellationError) -> Void

  /// Creates a delivery.
  ///
  /// - Parameters:
  ///   - dispatchers: One dispatcher for each configured service.
  ///   - clock: The clock for the expiry of messages.
  ///   - pause: The wait between attempts; by default it sleeps.
  package init(
    _ dispatchers: [any PushDispatcher], clock: any WallClock = SystemWallClock(),
    pause: @escaping @Sendable (Duration) async throws(CancellationError) -> Void = {
      (duration) async throws(CancellationError) in
      do { try await Task.sleep(for: duration) } catch { throw CancellationError() }
    }
  ) {
    self.dispatchers = Dictionary(dispatchers.map { ($0.service, $0) }) { first, _ in first }
    (self.clock, self.pause) = (clock, pause)
  }

  /// The configured services.
  package var services: Set<PushTarget.Service> { Set(dispatchers.keys) }

  /// Indicates whether a configured service delivers to a target.
  package func mayCarry(_ target: PushTarget) -> Bool {
    dispatchers[target.service]?.mayCarry(target) ?? false
  }

  /// Delivers a message without retries.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - target: The destination.
  /// - Returns: The result of the attempt.
  package func deliverOnce(_ message: PushMessage, to target: PushTarget) async -> PushOutcome {
    guard let dispatcher = dispatchers[target.service] else { return .failed(.targetNotAllowed) }
    do throws(PushFailure) {
      try await dispatcher.send(message, to: target)
      return .accepted
    } catch {
      return error == .targetGone ? .targetGone : .failed(error)
    }
  }

  /// Delivers a message, with retries after temporary failures.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - target: The destination.
  ///   - isPending: Returns true while the message is still useful; called before each retry.
  /// - Returns: The result; a cancelled delivery returns its last failure.
  package func deliver(
    _ message: PushMessage, to target: PushTarget, while isPending: () async -> Bool = { true }
  ) async -> PushOutcome {
    guard let dispatcher = dispatchers[target.service] else { return .failed(.targetNotAllowed) }
    var attempts = 0
    while clock.now < message.expires {
      attempts += 1
      do throws(PushFailure) {
        try await dispatcher.send(message, to: target)
        return .accepted
      } catch {
        switch error {
        case .targetGone: return .targetGone
        case .refused, .targetNotAllowed: return .failed(error)
        case .tryAgain(let retryAfter, _):
          let seconds = Backoff.seconds(afterAttempts: attempts, requested: retryAfter)
          guard clock.now + seconds < message.expires else { return .failed(error) }
          do { try await pause(.seconds(seconds)) } catch {
            return .failed(.tryAgain(afterSeconds: retryAfter, reason: "stopped"))
          }
          guard await isPending() else { return .expired }
        }
      }
    }
    return .expired
  }
}
