package import SignetStorage
import SignetWire

/// Tells requests that wait when something changed for their user, in whatever process it was.
///
/// While anybody waits it looks every 10 ms for new changes in the storage, which is one read of an index. Waiting costs
/// no thread and no read of one's own.
package actor TransactionWatch {
  /// A place in the waiting room: what happens after it was taken is not missed.
  package struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Waiter {
    let user: UserID
    let container: String
    let address: String
    var isSignalled = false
    /// As the context counts the time.
    var deadline: Duration?
    /// Hears whether something changed.
    var listener: (@Sendable (Bool) -> Void)?
  }

  private static let interval: Duration = .milliseconds(10)
  /// After a failure of the storage.
  private static let longestInterval: Duration = .seconds(5)
  /// The most waits of a container: one that is lost with its connection, and the next.
  private static let limitPerContainer = 2
  /// Deadlines are whole seconds: they are looked at less often.
  private static let deadlineRounds = 20

  private let context: ServiceContext
  private let limit: Int
  private let limitPerAddress: Int
  private var waiters: [UInt64: Waiter] = [:]
  /// The places of each user, of each container (oldest first), and how many each address has.
  private var tickets: [UserID: Set<UInt64>] = [:]
  private var ownTickets: [String: [UInt64]] = [:]
  private var addressCounts: [String: Int] = [:]
  private var nextNumber: UInt64 = 0
  private var lastChange: LogCursor?
  private var round: Task<Void, Never>?
  private var isStopped = false
  private var hasFailed = false

  /// A watch for at most so many who wait, in all and from one address.
  package init(_ context: ServiceContext, limit: Int = 512, limitPerAddress: Int = 32) {
    (self.context, self.limit, self.limitPerAddress) = (context, limit, limitPerAddress)
  }

  /// How many wait; tests wait for them.
  package var waitingCount: Int { waiters.count { $0.value.listener != nil } }

  /// Takes a place; look at what there is after this, then wait.
  ///
  /// A container has two places: a third ends the wait of its oldest.
  ///
  /// - Parameters:
  ///   - user: Whose changes count.
  ///   - container: Who waits.
  ///   - address: From where.
  /// - Returns: The place, which has to be given back; `nil` where there is none left.
  package func enter(for user: UserID, container: String, from address: String) async -> Ticket? {
    if let own = ownTickets[container], own.count >= Self.limitPerContainer {
      end(own[0], changed: false)
      remove(own[0])
    }
    guard waiters.count < limit, addressCounts[address, default: 0] < limitPerAddress else { return nil }
    nextNumber += 1
    let ticket = Ticket(number: nextNumber)
    waiters[ticket.number] = Waiter(user: user, container: container, address: address)
    tickets[user, default: []].insert(ticket.number)
    ownTickets[container, default: []].append(ticket.number)
    addressCounts[address, default: 0] += 1
    // Before the caller looks: a change after its look has a higher number than this.
    if lastChange == nil { await look() }
    startLooking()
    return ticket
  }

  /// Waits until something changed for the ticket's user since it was taken, or since the last wait with it ended.
  ///
  /// - Parameters:
  ///   - ticket: The place.
  ///   - deadline: When the wait ends, by the context's ``ServiceContext/elapsed``.
  /// - Returns: Whether something changed; no when the time is over, the task cancelled or the server about to stop.
  package func wait(with ticket: Ticket, until deadline: Duration) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled else { return continuation.resume(returning: false) }
        wait(with: ticket, until: deadline) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      Task { await self.end(ticket.number, changed: false) }
    }
  }

  /// Waits as ``wait(with:until:)`` does, without a task.
  ///
  /// - Parameters:
  ///   - ticket: The place.
  ///   - deadline: When the wait ends, as there.
  ///   - listener: Hears once whether something changed; it must not block. No also when the place is given back.
  func wait(
    with ticket: Ticket, until deadline: Duration,
    listener: @escaping @Sendable (Bool) -> Void
  ) {
    guard let waiter = waiters[ticket.number], !isStopped else { return listener(false) }
    guard !waiter.isSignalled else {
      waiters[ticket.number]?.isSignalled = false
      return listener(true)
    }
    waiters[ticket.number]?.deadline = deadline
    waiters[ticket.number]?.listener = listener
  }

  /// Gives a place back.
  package func leave(_ ticket: Ticket) {
    end(ticket.number, changed: false)
    remove(ticket.number)
  }

  private func remove(_ number: UInt64) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    tickets[waiter.user]?.remove(number)
    if tickets[waiter.user]?.isEmpty == true { tickets[waiter.user] = nil }
    ownTickets[waiter.container]?.removeAll { $0 == number }
    if ownTickets[waiter.container]?.isEmpty == true { ownTickets[waiter.container] = nil }
    let rest = addressCounts[waiter.address, default: 1] - 1
    addressCounts[waiter.address] = rest > 0 ? rest : nil
  }

  /// Lets all who wait go, and nobody wait any more.
  package func stop() {
    isStopped = true
    round?.cancel()
    for number in waiters.keys { end(number, changed: false) }
  }

  private func end(_ number: UInt64, changed: Bool) {
    guard let listener = waiters[number]?.listener else { return }
    waiters[number]?.listener = nil
    waiters[number]?.deadline = nil
    listener(changed)
  }

  private func startLooking() {
    guard round == nil, !isStopped else { return }
    round = Task {
      var count = 0
      var interval = Self.interval
      while !Task.isCancelled, !waiters.isEmpty {
        if await look() {
          interval = Self.interval
        } else {
          interval = min(interval * 2, Self.longestInterval)
        }
        count += 1
        if count.isMultiple(of: Self.deadlineRounds) { endOverdue() }
        do { try await context.timer.sleep(for: interval) } catch { break }
      }
      // Nobody waits: what happens until somebody does is of no interest.
      (round, lastChange) = (nil, nil)
    }
  }

  /// Looks once; no where the storage can't be read, which is logged when it begins.
  @discardableResult
  private func look() async -> Bool {
    let known = lastChange
    let changes: TransactionChanges
    do { changes = try await context.storage.transactionChanges(after: known) } catch {
      // Who waits asks again when the time is over, and hears then.
      if !hasFailed { context.log.error("storage.failed", ["cause": error.description]) }
      hasFailed = true
      return false
    }
    hasFailed = false
    guard known != nil else {
      // Another look may have begun to count meanwhile: what came after its number must not be skipped.
      lastChange = lastChange ?? changes.last
      return true
    }
    lastChange?.advance(to: changes.last)
    for user in changes.users {
      for number in tickets[user] ?? [] {
        if waiters[number]?.listener == nil {
          waiters[number]?.isSignalled = true
        } else {
          end(number, changed: true)
        }
      }
    }
    return true
  }

  private func endOverdue() {
    let now = context.elapsed()
    for (number, waiter) in waiters {
      if let deadline = waiter.deadline, deadline <= now { end(number, changed: false) }
    }
  }
}
