import SignetCrypto
import SignetProtocol
package import SignetPush
package import SignetStorage
import Synchronization

/// The services that deliver a server's pushes.
package struct PushSetup: Sendable {
  /// The delivery of messages.
  package var delivery: PushDelivery
  /// The public key with which devices subscribe to Web Push, X9.63; `nil` if Web Push is not configured.
  package var webPushKey: [UInt8]?

  /// No service; devices poll.
  package static let none = PushSetup(delivery: PushDelivery([]))

  /// Creates a setup.
  package init(delivery: PushDelivery, webPushKey: [UInt8]? = nil) {
    (self.delivery, self.webPushKey) = (delivery, webPushKey)
  }
}

/// A new, stored transaction that the user's devices are notified of.
package struct TransactionAnnouncement: Sendable {
  /// The transaction.
  package let record: TransactionRecord
  /// The deliveries to authenticators without a list of waiting transactions; each may run once.
  let deliveries: [@Sendable () async -> Void]

  package init(_ record: TransactionRecord, deliveries: [@Sendable () async -> Void] = []) {
    (self.record, self.deliveries) = (record, deliveries)
  }
}

/// Notifies devices by push that a transaction waits.
///
/// Pushes are optional: no other step waits for them, and a device that gets none finds the transaction when it polls.
package final class PushSender: Sendable {
  /// The largest number of transactions whose pushes are in progress; further ones get no push.
  private static let limit = 1_024
  /// The largest number of them for one user.
  private static let limitPerUser = 8

  private struct State {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var counts: [UserID: Int] = [:]
    var next: UInt64 = 0
    var isStopped = false
  }

  private let context: ServiceContext
  private let targets: PushTargetService
  private let state = Mutex(State())

  package init(_ context: ServiceContext) {
    self.context = context
    targets = PushTargetService(context)
  }

  /// Sends pushes for a stored transaction; returns at once.
  package func announce(_ announcement: TransactionAnnouncement) {
    let transaction = announcement.record
    guard !context.push.delivery.services.isEmpty, let user = transaction.user else { return }
    let isScheduled = state.withLock { state in
      guard !state.isStopped, state.tasks.count < Self.limit,
        state.counts[user, default: 0] < Self.limitPerUser
      else { return false }
      state.counts[user, default: 0] += 1
      let number = state.next
      state.next += 1
      state.tasks[number] = Task {
        await self.send(announcement, of: user)
        self.state.withLock { state in
          state.tasks[number] = nil
          state.counts[user] = state.counts[user].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
      }
      return true
    }
    if !isScheduled { context.log.error("push.skipped", ["transaction": transaction.id]) }
  }

  /// Cancels all pushes in progress.
  func stop() async {
    let tasks = state.withLock { state in
      state.isStopped = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Waits for all pushes in progress.
  package func finish() async {
    for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
  }

  private func send(_ announcement: TransactionAnnouncement, of user: UserID) async {
    var records: [PushTargetRecord] = []
    do throws(StorageFailure) { records = try await context.storage.pushTargets(user: user) } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
    // In parallel, so that one unreachable service does not delay the others.
    await withTaskGroup(of: Void.self) { group in
      for record in records { group.addTask { await self.send(announcement.record, to: record) } }
      for delivery in announcement.deliveries { group.addTask { await delivery() } }
    }
  }

  private func send(_ transaction: TransactionRecord, to record: PushTargetRecord) async {
    let message: PushMessage
    let target: PushTarget
    do {
      guard let container = try await context.storage.container(record.container),
        context.able.isAsked(transaction, of: container)
      else { return }
      target = try targets.target(of: record)
      message = try self.message(about: transaction, for: container)
    } catch {
      return context.log.error("push.failed", ["target": record.id, "cause": "\(error)"])
    }
    let outcome = await context.push.delivery.deliver(message, to: target) {
      await TransactionService.isPending(transaction.id, self.context)
    }
    let members: EventLog.Members = [
      "target": record.id, "service": record.service, "transaction": transaction.id,
    ]
    switch outcome {
    case .accepted: context.log.info("push.sent", members)
    case .expired: context.log.info("push.late", members)
    case .failed(let failure):
      context.log.error(
        "push.failed", ["target": record.id, "service": record.service, "cause": failure.description])
    case .targetGone: await drop(record)
    }
  }

  /// Deletes a target that its service no longer knows, unless the device has changed it in the meantime.
  private func drop(_ record: PushTargetRecord) async {
    let event = context.audit(by: .server)(
      .pushTargetDropped(target: record.id, container: record.container, service: record.service))
    do throws(StorageFailure) {
      _ = try await context.storage.removePushTarget(
        record.id, of: record.container, ifSealed: record.sealedTarget, audit: event)
    } catch {
      context.log.error("storage.failed", ["cause": error.description])
    }
  }

  private func message(
    about transaction: TransactionRecord, for container: ContainerRecord
  ) throws -> PushMessage {
    let payload = PushPayload(
      server: context.settings.serverURL, container: container.id,
      transaction: transaction.id)
    let key = try P256.KeyAgreement.PublicKey(x963: container.encryptionKey)
    return PushMessage(
      envelope: try payload.encrypted(to: key), topic: String(transaction.id.text.prefix(32)),
      expires: transaction.expires)
  }
}
