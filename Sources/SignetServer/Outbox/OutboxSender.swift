import SignetStorage
import SignetTransport
import SignetWire
import Synchronization

/// Delivers what is in the outbox: what ended or changed, in whatever process.
///
/// An event is in the database since the step that made it. A process leases it for a minute, so one that dies leaves it to
/// another; so a receiver may be told twice, and is not forgotten until the event is too old.
package final class OutboxSender: Sendable {
  /// How often it is looked whether something is due, while there are receivers.
  private static let interval: Duration = .milliseconds(200)
  /// How often it is looked whether there are receivers, in looks for what is due: every five seconds.
  private static let roundsPerLook = 25
  /// How long a lease holds, in seconds: longer than an attempt may take.
  package static let lease: Int64 = 60
  /// The most that is under way, to one receiver, and to one with which it went wrong the last time.
  private static let (limit, limitPerReceiver, limitPerFailing) = (32, 4, 1)

  private struct State {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var counts: [OutboxReceiver: Int] = [:]
    /// The receivers that could not be told the last time: they keep no places from the others.
    var failing: Set<OutboxReceiver> = []
    var next: UInt64 = 0
    var isStopped = false

    /// Those that began first before the others, so that whoever waits for them does so in the same way each time.
    var tasksInOrder: [Task<Void, Never>] { tasks.sorted { $0.key < $1.key }.map(\.value) }
  }

  private let context: ServiceContext
  private let deliveries: [any OutboxDelivery]
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// A sender of all that a server can deliver; `nil` where that is nothing.
  ///
  /// - Parameters:
  ///   - context: What it works with.
  ///   - executor: Where the attempts run; `nil` for the shared pool.
  package convenience init?(_ context: ServiceContext, on executor: (any TaskExecutor)? = nil) {
    let deliveries = [CIBANotifier(context)].compactMap(\.self)
    guard !deliveries.isEmpty else { return nil }
    self.init(context, deliveries, on: executor)
  }

  /// A sender by some ways of delivering.
  package init(
    _ context: ServiceContext, _ deliveries: [any OutboxDelivery], on executor: (any TaskExecutor)? = nil
  ) {
    (self.context, self.deliveries, self.executor) = (context, deliveries, executor)
  }

  /// Delivers what is due from now on.
  func start() {
    let task = Task {
      while !Task.isCancelled {
        let needed = await neededDeliveries()
        for _ in 0..<Self.roundsPerLook {
          for delivery in needed { await begin(delivery) }
          // Cancelled where the server stops.
          do { try await context.timer.sleep(for: Self.interval) } catch { return }
        }
      }
    }
    loop.withLock { $0 = task }
  }

  /// Ends what is under way; another process goes on with it, or this one when it is started again.
  func stop() async {
    let task = loop.withLock { $0 }
    task?.cancel()
    await task?.value
    state.withLock { $0.isStopped = true }
    await finish { $0.cancel() }
  }

  /// Delivers what is due, once, and waits until that is done; on an ordered channel with what is due after it.
  package func sendDue() async {
    for delivery in deliveries { await begin(delivery) }
    await finish { _ in }
  }

  /// Waits for all that is under way, and for what that begins.
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
      } catch { needed.append(delivery) }  // to look for what is due says, and logs, the same
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
        // What waited for this one is due now.
        if isDone, record.receiver.channel.isOrdered { await self.begin(delivery) }
        self.state.withLock { $0.tasks[number] = nil }
      }
    }
  }

  /// - Returns: Whether the delivery is no more.
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
      return await end(record, .again(told: nil, Dialect.problem(error, context.log).detail), by: delivery)
    }
  }

  private func note(_ outcome: DeliveryOutcome, of receiver: OutboxReceiver) {
    state.withLock { state in
      switch outcome {
      case .acknowledged: state.failing.remove(receiver)
      case .needless: break
      case .failed, .again: state.failing.insert(receiver)
      }
    }
  }

  /// - Returns: Whether the delivery is no more.
  private func end(
    _ record: OutboxRecord, _ outcome: DeliveryOutcome, by delivery: any OutboxDelivery
  ) async -> Bool {
    note(outcome, of: record.receiver)
    var next: Int64?
    var event: AuditEvent?
    switch outcome {
    case .acknowledged: event = delivery.event(of: record, failure: nil)
    case .needless: break
    case .failed(let reason): event = delivery.event(of: record, failure: reason)
    case .again(let told, let reason):
      // At once where the server stops.
      let wait = Task.isCancelled ? 0 : Backoff.seconds(afterAttempts: record.attempts, told: told)
      next = record.nextAttempt(after: wait, at: context.clock.now)
      if next == nil { event = delivery.event(of: record, failure: reason) }
    }
    do throws(StorageFailure) {
      let isOurs = try await context.storage.endDelivery(
        record, next: next, audit: event.map { context.audit(by: .server)($0) })
      return isOurs && next == nil
    } catch {
      context.log.error("storage.failed", ["cause": error.description])
      return false
    }
  }
}
