import SignetJSON
import SignetStorage
import SignetTransport
import SignetWire
import Synchronization

/// Tells clients that a request of theirs has ended (CIBA section 10.2 and 10.3), for all that ends, in whatever process.
///
/// What is to be told is in the database since the step that ended the transaction. A process claims it for a minute, so
/// one that dies leaves it to another; so a client may be told twice, and is never forgotten.
package final class NoticeSender: Sendable {
  /// How often it is looked whether there is something to tell, while there are clients that are told.
  private static let interval: Duration = .milliseconds(200)
  /// How often it is looked whether there are such clients, in looks for something to tell: every five seconds.
  private static let roundsPerLook = 25
  /// How long a claim holds, in seconds: longer than a request may take.
  package static let claim: Int64 = 60
  /// How long after the end of a transaction its client is still told, in seconds.
  package static let window: Int64 = 300
  /// The most that is under way, of one client, and of one with which it went wrong the last time.
  private static let (limit, limitPerClient, limitPerFailing) = (32, 4, 1)

  private struct State {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var counts: [String: Int] = [:]
    /// The clients that could not be told the last time: they keep no places from the others.
    var failing: Set<String> = []
    var next: UInt64 = 0
    var isStopped = false
  }

  private let context: ServiceContext
  private let transport: any HTTPTransport
  private let maker: TokenMaker
  private let state = Mutex(State())
  private let loop = Mutex<Task<Void, Never>?>(nil)

  /// A sender; `nil` where nothing carries notices.
  package init?(_ context: ServiceContext) {
    guard let transport = context.notices else { return nil }
    (self.context, self.transport, maker) = (context, transport, TokenMaker(context))
  }

  /// Looks for something to tell from now on.
  func start() {
    let task = Task {
      while !Task.isCancelled {
        let isNeeded = await hasClients()
        for _ in 0..<Self.roundsPerLook {
          if isNeeded { await begin() }
          do { try await Task.sleep(for: Self.interval) } catch { return }  // cancelled: the server stops
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
    let tasks = state.withLock { state in
      state.isStopped = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Tells what is due, once, and waits until that is done.
  package func sendDue() async {
    await begin()
    for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
  }

  /// Whether a client is registered that is told anything.
  private func hasClients() async -> Bool {
    do throws(StorageFailure) {
      return try await context.storage.clients().contains { $0.delivery != .poll && $0.revoked == nil }
    } catch { return true }  // to look for what is due says, and logs, the same
  }

  private func begin() async {
    do throws(StorageFailure) {
      let due = try await context.storage.dueNotices(
        at: context.clock.now, limitPerClient: Self.limitPerClient)
      for record in due {
        guard let due = record.noticeDue, hasRoom(for: record.client) else { continue }
        let end = context.clock.now + Self.claim
        guard try await context.storage.claimNotice(record.digest, due: due, until: end) else { continue }
        var claimed = record
        claimed.noticeDue = end
        claimed.noticeAttempts += 1
        run(claimed)
      }
    } catch {
      if error != .closed { context.log.error("storage.failed", ["cause": error.description]) }
    }
  }

  private func hasRoom(for client: String) -> Bool {
    state.withLock { state in
      !state.isStopped && state.tasks.count < Self.limit
        && state.counts[client, default: 0]
          < (state.failing.contains(client) ? Self.limitPerFailing : Self.limitPerClient)
    }
  }

  private func run(_ record: BackchannelRecord) {
    state.withLock { state in
      state.counts[record.client, default: 0] += 1
      let number = state.next
      state.next += 1
      state.tasks[number] = Task {
        await self.tell(record)
        self.state.withLock { state in
          state.tasks[number] = nil
          state.counts[record.client] = state.counts[record.client].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
      }
    }
  }

  /// How a try ended.
  private enum Outcome {
    /// The client knows.
    case told
    /// There is nothing to tell.
    case needless
    /// Trying again does not help.
    case failed(String)
    /// It may help; the client may have said when.
    case again(told: Int64?, String)
  }

  private func tell(_ record: BackchannelRecord) async {
    do {
      let found = try await context.storage.transaction(record.transaction)
      let client = try await context.storage.client(record.client)
      guard let transaction = found, let client, client.revoked == nil else {
        return await end(record, .needless, last: .min)
      }
      let last = (transaction.decision?.time ?? transaction.end?.time ?? transaction.expires) + Self.window
      guard context.clock.now <= last else { return await end(record, .failed("too late"), last: last) }
      await end(record, try await attempt(record, transaction, client), last: last)
    } catch {
      await end(record, .again(told: nil, Dialect.problem(error, context).detail), last: .max)
    }
  }

  private func attempt(
    _ record: BackchannelRecord, _ transaction: TransactionRecord, _ client: ClientRecord
  ) async throws -> Outcome {
    guard let url = client.notificationEndpoint, let sealed = record.sealedNotice,
      let notice = BackchannelNotice(sealed, of: transaction.id, under: context.masterKey)
    else { return .failed("what the client is told with can't be opened") }
    guard let body = try await body(for: record, transaction, client, notice) else { return .needless }
    let request = HTTPRequest(
      method: .post, url: url,
      headers: [("Authorization", "Bearer \(notice.token)"), ("Content-Type", "application/json")],
      body: body.bytes)
    do throws(TransportFailure) {
      return Self.outcome(of: try await transport.send(request))
    } catch {
      return error.mayPass ? .again(told: nil, error.description) : .failed(error.description)
    }
  }

  /// What is said; `nil` where there is nothing to say.
  private func body(
    for record: BackchannelRecord, _ transaction: TransactionRecord, _ client: ClientRecord,
    _ notice: BackchannelNotice
  ) async throws -> JSONObject? {
    guard record.delivery == .push else {
      // Who asks then hears nothing but that, which it knows by itself.
      return transaction.state == .expired ? nil : ["auth_req_id": .string(notice.id)]
    }
    if let refusal = try await maker.refusal(of: record, transaction) {
      var body = refusal.json
      body["auth_req_id"] = .string(notice.id)
      return body
    }
    let time = record.issued ?? context.clock.now
    var body = try await maker.tokens(for: record, transaction, at: time, authReqID: notice.id)
    if record.issued == nil {
      let event = TokenGrant.event(context, transaction, client)
      let isFirst = try await context.storage.issueTokens(
        for: record.digest, of: client.id, at: time, pushedWithin: Self.window, audit: event)
      guard isFirst else { return nil }  // revoked meanwhile, or too late
    }
    body["auth_req_id"] = .string(notice.id)
    return body
  }

  private static func outcome(of response: HTTPResponse) -> Outcome {
    if (200...299).contains(response.status) { return .told }
    let reason = "status \(response.status)"
    return response.mayPass ? .again(told: response.retryAfterSeconds, reason) : .failed(reason)
  }

  private func note(_ outcome: Outcome, of client: String) {
    state.withLock { state in
      switch outcome {
      case .told: state.failing.remove(client)
      case .needless: break
      case .failed, .again: state.failing.insert(client)
      }
    }
  }

  private func end(_ record: BackchannelRecord, _ outcome: Outcome, last: Int64) async {
    guard let due = record.noticeDue else { return }
    let (client, transaction) = (record.client, record.transaction)
    var next: Int64?
    var event: AuditEvent?
    note(outcome, of: record.client)
    switch outcome {
    case .told: event = .clientTold(client: client, transaction: transaction)
    case .needless: break
    case .failed(let reason):
      event = .clientNotTold(client: client, transaction: transaction, reason: reason)
    case .again(let told, let reason):
      // At once where the server stops.
      let wait =
        Task.isCancelled ? 0 : Backoff.seconds(afterAttempts: record.noticeAttempts, told: told)
      if context.clock.now + wait <= last {
        next = context.clock.now + wait
      } else {
        event = .clientNotTold(client: client, transaction: transaction, reason: reason)
      }
    }
    do throws(StorageFailure) {
      _ = try await context.storage.endNotice(
        record.digest, due: due, next: next, audit: event.map { context.audit(by: .server)($0) })
    } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
  }
}
