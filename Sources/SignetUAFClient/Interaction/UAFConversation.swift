package import SignetPolicy
import SignetUAF

/// Puts an operation's questions to the app and applies the time limit to each answer.
package struct UAFConversation: Sendable {
  let interaction: any UAFInteraction
  /// The time limit for one answer, without a cool-down.
  let limit: Duration
  let clock: any Clock<Duration>
  /// The device's checks of new passwords.
  let passwordChecks: PasswordChecks

  package init(
    interaction: any UAFInteraction, limit: Duration, clock: any Clock<Duration>,
    passwordChecks: PasswordChecks
  ) {
    self.interaction = interaction
    self.limit = limit
    self.clock = clock
    self.passwordChecks = passwordChecks
  }

  /// Asks one question.
  ///
  /// The question runs in a separate task, so an app that never returns cannot block the operation.
  ///
  /// - Parameters:
  ///   - coolDown: The wait until the next attempt is allowed; it is added to the time limit.
  ///   - show: Shows the question to the app.
  /// - Returns: The answer.
  /// - Throws: ``UAFClientError/userCancelled`` if the user or the task cancels, ``UAFClientError/userNotResponsive``
  ///   without an answer in time.
  package func ask<Value: Sendable>(
    extendedBy coolDown: Duration = .zero,
    _ show: @escaping @Sendable (any UAFInteraction, UAFAnswer<Value>) async -> Void
  ) async throws(UAFClientError) -> Value {
    let slot = OneShotContinuation<Value>()
    let (interaction, clock, limit) = (interaction, clock, limit + coolDown)
    let prompting = Task { await show(interaction, UAFAnswer(slot)) }
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
    case .value(let value): return value
    case .cancelled: throw .userCancelled
    case .stopped:
      prompting.cancel()
      throw .userCancelled
    case .dropped, .late:
      prompting.cancel()
      throw .userNotResponsive
    }
  }
}
