import SignetUAF

/// Puts an operation's questions to the app, and waits no longer than is allowed.
package struct UAFConversation: Sendable {
  let interaction: any UAFInteraction
  /// How long an answer may take.
  let limit: Duration
  let clock: any Clock<Duration>

  package init(interaction: any UAFInteraction, limit: Duration, clock: any Clock<Duration>) {
    self.interaction = interaction
    self.limit = limit
    self.clock = clock
  }

  /// Asks one question.
  ///
  /// The app is asked in a task of its own, so that one that never returns cannot hold up the operation.
  ///
  /// - Parameters:
  ///   - coolDown: How long the person has to wait before an answer is of use; it comes on top of the limit.
  ///   - put: Puts the question.
  /// - Returns: The answer.
  /// - Throws: ``UAFClientError/userCancelled``, ``UAFClientError/userNotResponsive``.
  package func ask<Value: Sendable>(
    extendedBy coolDown: Duration = .zero,
    _ put: @escaping @Sendable (any UAFInteraction, UAFAnswer<Value>) async -> Void
  ) async throws(UAFClientError) -> Value {
    let slot = OneShotContinuation<Value>()
    let (interaction, clock, limit) = (interaction, clock, limit + coolDown)
    let asking = Task { await put(interaction, UAFAnswer(slot)) }
    let timing = Task {
      do { try await clock.sleep(for: limit) } catch { return }
      slot.settle(.late)
    }
    let outcome = await withTaskCancellationHandler {
      await slot.outcome()
    } onCancel: {
      slot.settle(.stopped)
    }
    timing.cancel()
    switch outcome {
    case .given(let value): return value
    case .cancelled: throw .userCancelled
    case .stopped:
      asking.cancel()
      throw .userCancelled
    case .dropped, .late:
      asking.cancel()
      throw .userNotResponsive
    }
  }
}
