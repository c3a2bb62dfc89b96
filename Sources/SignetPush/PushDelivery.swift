import SignetTransport
public import SignetWire

/// How a delivery ended.
public enum PushOutcome: Hashable, Sendable {
  /// A service took the message.
  case taken
  /// The target is gone: forget it.
  case targetGone
  /// It could not be handed over; the device can still ask by itself.
  case failed(PushFailure)
  /// The message is of no use any more.
  case expired
}

/// Hands messages to the services that carry them, as often as it takes.
///
/// After a failure that may pass it waits 1 s, then twice as long each time, at most 32 s, or as long as the service
/// says, until the message has expired.
public struct PushDelivery: Sendable {
  private let dispatchers: [PushTarget.Service: any PushDispatcher]
  private let clock: any WallClock
  private let pause: @Sendable (Duration) async throws(CancellationError) -> Void

  /// Makes a delivery.
  ///
  /// - Parameters:
  ///   - dispatchers: One for each service that the operator has set up.
  ///   - clock: Says when a message has expired.
  ///   - pause: Waits between attempts; sleeps unless said.
  public init(
    _ dispatchers: [any PushDispatcher], clock: any WallClock = SystemWallClock(),
    pause: @escaping @Sendable (Duration) async throws(CancellationError) -> Void = {
      (duration) async throws(CancellationError) in
      do { try await Task.sleep(for: duration) } catch { throw CancellationError() }
    }
  ) {
    self.dispatchers = Dictionary(dispatchers.map { ($0.service, $0) }) { first, _ in first }
    (self.clock, self.pause) = (clock, pause)
  }

  /// The services that the operator has set up.
  public var services: Set<PushTarget.Service> { Set(dispatchers.keys) }

  /// Whether one of the services carries pushes to a target.
  public func mayCarry(_ target: PushTarget) -> Bool {
    dispatchers[target.service]?.mayCarry(target) ?? false
  }

  /// Delivers one message at once, or not at all.
  ///
  /// - Parameters:
  ///   - message: What to deliver.
  ///   - target: To where.
  /// - Returns: How the one attempt ended.
  public func deliverOnce(_ message: PushMessage, to target: PushTarget) async -> PushOutcome {
    guard let dispatcher = dispatchers[target.service] else { return .failed(.targetNotAllowed) }
    do throws(PushFailure) {
      try await dispatcher.send(message, to: target)
      return .taken
    } catch {
      return error == .targetGone ? .targetGone : .failed(error)
    }
  }

  /// Delivers one message.
  ///
  /// - Parameters:
  ///   - message: What to deliver.
  ///   - target: To where.
  ///   - isWanted: Whether the message is still of use; asked before each further attempt.
  /// - Returns: How it ended; a cancelled one has failed as it last did.
  public func deliver(
    _ message: PushMessage, to target: PushTarget, while isWanted: () async -> Bool = { true }
  ) async -> PushOutcome {
    guard let dispatcher = dispatchers[target.service] else { return .failed(.targetNotAllowed) }
    var attempts = 0
    while clock.now < message.expires {
      attempts += 1
      do throws(PushFailure) {
        try await dispatcher.send(message, to: target)
        return .taken
      } catch {
        switch error {
        case .targetGone: return .targetGone
        case .refused, .targetNotAllowed: return .failed(error)
        case .tryAgain(let told, _):
          let seconds = Backoff.seconds(afterAttempts: attempts, told: told)
          guard clock.now + seconds < message.expires else { return .failed(error) }
          do { try await pause(.seconds(seconds)) } catch {
            return .failed(.tryAgain(afterSeconds: told, reason: "stopped"))
          }
          guard await isWanted() else { return .expired }
        }
      }
    }
    return .expired
  }
}
