import SignetProtocol
package import SignetStorage

/// Wakes waiting requests when something changed for their user, in any process.
///
/// While requests wait, it reads new changes from the storage every 10 ms, which is one read of an index. A waiting request
/// needs no thread and no reads of its own.
package actor TransactionWatch {
  /// A place in the watch; no change after its creation is missed.
  package struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Waiter {
    let user: UserID
    let container: String
    let address: String
    var isSignalled = false
    /// The end of the wait, by the context's clock.
    var deadline: Duration?
    /// Called with true if something changed.
    var listener: (@Sendable (Bool) -> Void)?
  }

  private static let interval: Duration = .milliseconds(10)
  /// The longest interval after failures of the storage.
  private static let longestInterval: Duration = .seconds(5)
  /// The largest number of waits of a container: one whose connection was lost, and the next one.
  private static let limitPerContainer = 2
  /// Deadlines are whole seconds, so they are checked less often.
  private static let deadlineRounds = 20

  private let context: ServiceContext
  private let limit: Int
  private let limitPerAddress: Int
  private var waiters: [UInt64: Waiter] = [:]
  /// The tickets of each user and of each container (oldest first), and the number of each address.
  private var tickets: [UserID: Set<UInt64>] = [:]
  private var containerTickets: [String: [UInt64]] = [:]
  private var addressCounts: [String: Int] = [:]
  private var nextNumber: UInt64 = 0
  private var lastChange: LogCursor?
  private var pollTask: Task<Void, Never>?
  private var isStopped = false
  private var hasFailed = false

  /// Creates a watch with a largest number of waits, in all and from one address.
  package init(_ context: ServiceContext, limit: Int = 512, limitPerAddress: Int = 32) {
    self.context = context
    self.limit = limit
    self.limitPerAddress = limitPerAddress
  }

  /// The number of current waits, for tests.
  package var waitingCount: Int { waiters.count { $0.value.listener != nil } }

  /// Creates a ticket; the caller then reads the current state, and waits after that.
  ///
  /// A container has two places: a third ends the wait of its oldest.
  ///
  /// - Parameters:
  ///   - user: The user whose changes count.
  ///   - container: The waiting container.
  ///   - address: The network address of the caller.
  /// - Returns: The ticket, for which the caller must call ``leave(_:)``; `nil` if no place is free.
  package func enter(for user: UserID, container: String, from address: String) async -> Ticket? {
    if let existing = containerTickets[container], existing.count >= Self.limitPerContainer {
      end(existing[0], changed: false)
      remove(existing[0])
    }
    guard waiters.count < limit, addressCounts[address, default: 0] < limitPerAddress else { return nil }
    nextNumber += 1
    let ticket = Ticket(number: nextNumber)
    waiters[ticket.number] = Waiter(user: user, container: container, address: address)
    tickets[user, default: []].insert(ticket.number)
    containerTickets[container, default: []].append(ticket.number)
    addressCounts[address, default: 0] += 1
    // This read comes before the caller's: a change after the caller's read has a higher number.
    if lastChange == nil { await readChanges() }
    startPolling()
    return ticket
  }

  /// Waits for a change for the ticket's user since the ticket was created, or since the last wait with it ended.
  ///
  /// - Parameters:
  ///   - ticket: The ticket.
  ///   - deadline: The end of the wait, by the context's ``ServiceContext/elapsed``.
  /// - Returns: True if something changed; false at the deadline, if the task is cancelled, or if the server stops.
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

  /// Waits like ``wait(with:until:)``, but without a task.
  ///
  /// - Parameters:
  ///   - ticket: The ticket.
  ///   - deadline: The end of the wait, by the context's ``ServiceContext/elapsed``.
  ///   - listener: Called once with true if something changed, or false, also after ``leave(_:)``; it must not block.
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

  /// Removes a ticket and ends its wait.
  package func leave(_ ticket: Ticket) {
    end(ticket.number, changed: false)
    remove(ticket.number)
  }

  private func remove(_ number: UInt64) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    tickets[waiter.user]?.remove(number)
    if tickets[waiter.user]?.isEmpty == true { tickets[waiter.user] = nil }
    containerTickets[waiter.container]?.removeAll { $0 == number }
    if containerTickets[waiter.container]?.isEmpty == true { containerTickets[waiter.container] = nil }
    let rest = addressCounts[waiter.address, default: 1] - 1
    addressCounts[waiter.address] = rest > 0 ? rest : nil
  }

  /// Ends all waits and prevents new ones.
  package func stop() {
    isStopped = true
    pollTask?.cancel()
    for number in waiters.keys { end(number, changed: false) }
  }

  private func end(_ number: UInt64, changed: Bool) {
    guard let listener = waiters[number]?.listener else { return }
    waiters[number]?.listener = nil
    waiters[number]?.deadline = nil
    listener(changed)
  }

  private func startPolling() {
    guard pollTask == nil, !isStopped else { return }
    pollTask = Task {
      var count = 0
      var interval = Self.interval
      while !Task.isCancelled, !waiters.isEmpty {
        if await readChanges() {
          interval = Self.interval
        } else {
          interval = min(interval * 2, Self.longestInterval)
        }
        count += 1
        if count.isMultiple(of: Self.deadlineRounds) { endOverdue() }
        do { try await context.timer.sleep(for: interval) } catch { break }
      }
      // Without waits, changes need not be tracked.
      (pollTask, lastChange) = (nil, nil)
    }
  }

  /// Reads the changes once; returns false if the storage cannot be read, and logs the first of such failures.
  @discardableResult
  private func readChanges() async -> Bool {
    let position = lastChange
    let changes: TransactionChanges
    do { changes = try await context.storage.transactionChanges(after: position) } catch {
      // A waiting device asks again at its deadline and gets the failure then.
      if !hasFailed { context.log.error("storage.failed", ["cause": error.description]) }
      hasFailed = true
      return false
    }
    hasFailed = false
    guard position != nil else {
      // Another read may have set the position in the meantime; changes after it must not be skipped.
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
