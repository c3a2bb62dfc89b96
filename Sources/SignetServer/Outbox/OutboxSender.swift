import SignetHTTPClient
import SignetProtocol
import SignetStorage
import SignetSystem
import Synchronization

/// Delivers the events of the outbox, which any process may have written.
///
/// The step that causes an event also writes it to the database. A process leases an event for a minute; if the process
/// dies, another one delivers it. A receiver may therefore get an event twice, and gets it at least once unless it becomes
/// too old.
package final class OutboxSender: Sendable {
  /// The interval between two reads of due events, while there are receivers.
  private static let interval: Duration = .milliseconds(200)
  /// The number of those reads between two checks for receivers: one check every five seconds.
  private static let roundsPerCheck = 25
  /// The duration of a lease, in seconds: longer than an attempt may take.
  package static let lease: Int64 = 60
  /// The largest number of concurrent attempts: in all, to one receiver, and to one receiver whose last attempt failed.
  private static let (limit, limitPerReceiver, limitPerFailing) = (32, 4, 1)

  private struct State {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var counts: [OutboxReceiver: Int] = [:]
    /// The receivers whose last attempt failed; their limit leaves room for the others.
    var failing: Set<OutboxReceiver> = []
    var next: UInt64 = 0
    var isStopped = false

    /// The tasks in the order of their start, so that waiting for them is deterministic.
    var tasksInOrder: [Task<Void, Never>] { tasks.sorted { $0.key < $1.key }.map(\.value) }
  }

  private let context: ServiceContext
  private let deliveries: [any OutboxDelivery]
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// Creates a sender with all deliveries that the server supports; `nil` if there are none.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - executor: The executor of the attempts; `nil` for the shared pool.
  package convenience init?(_ context: ServiceContext, on executor: (any TaskExecutor)? = nil) {
    let deliveries = [CIBANotifier(context)].compactMap(\.self)
    guard !deliveries.isEmpty else { return nil }
    self.init(context, deliveries, on: executor)
  }

  package init(
    _ context: ServiceContext, _ deliveries: [any OutboxDelivery], on executor: (any TaskExecutor)? = nil
  ) {
    self.context = context
    self.deliveries = deliveries
    self.executor = executor
  }

  func start() {
    let task = Task {
      while !Task.isCancelled {
        let needed = await neededDeliveries()
        for _ in 0..<Self.roundsPerCheck {
          for delivery in needed { await begin(delivery) }
          // The sleep throws when the server stops.
          do { try await context.timer.sleep(for: Self.interval) } catch { return }
        }
      }
    }
    loop.withLock { $0 = task }
  }

  /// Cancels all attempts; another process continues them, or this one after a restart.
  func stop() async {
    let task = loop.withLock { $0 }
    task?.cancel()
    await task?.value
    state.withLock { $0.isStopped = true }
    await finish { $0.cancel() }
  }

  /// Delivers the due events once and waits for the end; on an ordered channel, also the events that become due by that.
  package func sendDue() async {
    for delivery in deliveries { await begin(delivery) }
    await finish { _ in }
  }

  /// Waits for all attempts, and for those that they start.
  private func finish(_ prepare: (Task<Void, Never>) -> Void) async {
    while let tasks = state.withLock({ $0.tasks.isEmpty ? nil : $0.tasksInOrder }) {
      tasks.forEach(prepare)
      for task in tasks { await task.value }
    }
  }

  private func neededDeliveries() async -> [any OutboxDelivery] {
    var needed: [any OutboxDelivery] = []
    for delivery in deliveries {
      do throws(StorageFailure) {
        if try await delivery.hasReceivers() { needed.append(delivery) }
      } catch { needed.append(delivery) }  // the read of due events fails in the same way, and logs it
    }
    return needed
  }

  private func begin(_ delivery: any OutboxDelivery) async {
    do throws(StorageFailure) {
      let due = try await context.storage.dueDeliveries(
        on: delivery.channel, at: context.clock.now, limitPerReceiver: Self.limitPerReceiver)
      for record in due where hasRoom(for: record.receiver) {
        let end = context.clock.now + Self.lease
        guard let leased = try await context.storage.leaseDelivery(record, until: end) else { continue }
        run(leased, by: delivery)
      }
    } catch {
      if error != .closed { context.log.error("storage.failed", ["cause": error.description]) }
    }
  }

  private func hasRoom(for receiver: OutboxReceiver) -> Bool {
    state.withLock { state in
      !state.isStopped && state.tasks.count < Self.limit
        && state.counts[receiver, default: 0]
          < (state.failing.contains(receiver) ? Self.limitPerFailing : Self.limitPerReceiver)
    }
  }

  private func run(_ record: OutboxRecord, by delivery: any OutboxDelivery) {
    state.withLock { state in
      state.counts[record.receiver, default: 0] += 1
      let number = state.next
      state.next += 1
      state.tasks[number] = Task(executorPreference: executor) {
        let isDone = await self.deliver(record, by: delivery)
        self.state.withLock { state in
          state.counts[record.receiver] = state.counts[record.receiver].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        // On an ordered channel, the next event is due now.
        if isDone, record.receiver.channel.isOrdered { await self.begin(delivery) }
        self.state.withLock { $0.tasks[number] = nil }
      }
    }
  }

  /// - Returns: True if the delivery has ended.
  private func deliver(_ record: OutboxRecord, by delivery: any OutboxDelivery) async -> Bool {
    guard !record.isAltered else {
      context.log.error(
        "outbox.altered",
        [
          "number": String(record.number), "channel": record.receiver.channel.rawValue,
          "receiver": record.receiver.id,
        ])
      return await end(record, .needless, by: delivery)
    }
    guard record.isInTime(at: context.clock.now) else {
      return await end(record, .failed("too late"), by: delivery)
    }
    do { return await end(record, try await delivery.attempt(record), by: delivery) } catch {
      return await end(record, .again(after: nil, Dialect.problem(error, context.log).detail), by: delivery)
    }
  }

  private func recordOutcome(_ outcome: DeliveryOutcome, of receiver: OutboxReceiver) {
    state.withLock { state in
      switch outcome {
      case .acknowledged: state.failing.remove(receiver)
      case .needless: break
      case .failed, .again: state.failing.insert(receiver)
      }
    }
  }

  /// - Returns: True if the delivery has ended.
  private func end(
    _ record: OutboxRecord, _ outcome: DeliveryOutcome, by delivery: any OutboxDelivery
  ) async -> Bool {
    recordOutcome(outcome, of: record.receiver)
    var next: Int64?
    var event: AuditEvent?
    switch outcome {
    case .acknowledged: event = delivery.event(of: record, failure: nil)
    case .needless: break
    case .failed(let reason): event = delivery.event(of: record, failure: reason)
    case .again(let retryAfter, let reason):
      // When the server stops, the next attempt is due at once.
      let wait = Task.isCancelled ? 0 : Backoff.seconds(afterAttempts: record.attempts, requested: retryAfter)
      next = record.nextAttempt(after: wait, at: context.clock.now)
      if next == nil { event = delivery.event(of: record, failure: reason) }
    }
    do throws(StorageFailure) {
      let hasLease = try await context.storage.endDelivery(
        record, next: next, audit: event.map { context.audit(by: .server)($0) })
      return hasLease && next == nil
    } catch {
      context.log.error("storage.failed", ["cause": error.description])
      return false
    }
  }
}
