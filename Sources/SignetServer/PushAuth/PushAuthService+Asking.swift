import SignetCrypto
import SignetPush
import SignetPushAuth
import SignetStorage
import SignetWire

extension PushAuthService {
  /// Has the user's apps asked a transaction: a message to each that a service carries to, or that asks by itself.
  ///
  /// An app that cannot be asked is logged, and left out: the transaction is for other authenticators too.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - text: Who asks what.
  ///   - number: The number that the user has to choose; `nil` for yes or no.
  ///   - asking: What is stored and sent.
  /// - Throws: ``Problem``.
  func ask(
    _ transaction: TransactionRecord, _ text: String, number: MatchingNumber?,
    in asking: inout TransactionService.Asking
  ) async throws {
    let found = try await context.storage.pushAuthMechanisms(user: transaction.user ?? "")
    for mechanism in found where mechanism.state == .active {
      let isCarried = target(of: mechanism).map { context.push.delivery.mayCarry($0) } ?? false
      guard let name = mechanism.mechanism, isCarried || isAskedByItself(mechanism) else { continue }
      do { try ask(transaction, text, number, mechanism, named: name, in: &asking) } catch {
        context.log.error(
          "pushauth.failed", ["mechanism": mechanism.id, "cause": "its message cannot be made"])
      }
    }
  }

  private func ask(
    _ transaction: TransactionRecord, _ text: String, _ number: MatchingNumber?,
    _ mechanism: PushAuthMechanismRecord, named name: String, in asking: inout TransactionService.Asking
  ) throws {
    let id = ServerMadeID(random: context.random).text
    let right = number.flatMap { Int64($0.digits) }
    let message = PushAuthMessage(
      messageID: Self.authenticates + id, mechanismID: name, challenge: context.random.bytes(32),
      loadBalancer: "route=1", timeToLive: Double(transaction.expires - transaction.created),
      createdMillis: transaction.created * 1000, kind: right == nil ? .default : .challenge,
      numbers: right.map(numbers(with:)) ?? [], text: text, userID: mechanism.user)
    guard let token = try token(of: message, to: mechanism) else {
      context.log.info("pushauth.tooLong", ["mechanism": mechanism.id, "transaction": transaction.id])
      return
    }
    var record = PushAuthMessageRecord(
      id: id, mechanism: mechanism.id, kind: message.kind.rawValue, challenge: message.challenge,
      sealedNumber: try right.map { try seal($0, of: id) },
      created: transaction.created, expires: transaction.expires)
    record.transaction = transaction.id
    record.sealedToken = try sealed(token, of: id)
    let event = context.audit(by: .server)(
      .pushAuthMessage(user: mechanism.user, mechanism: mechanism.id, message: id))
    asking.records.messages.append((record, event))
    asking.deliveries.append { [self] in
      _ = await deliver(token, message, mechanism, until: transaction.expires) {
        await TransactionService.isPending(transaction.id, context)
      }
    }
  }
}
