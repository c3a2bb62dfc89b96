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
  ///   - made: The transaction, with the number that the user has to choose.
  ///   - text: Who asks what.
  ///   - asking: What is stored and sent.
  /// - Throws: ``Problem``.
  func ask(
    _ made: TransactionService.NewTransaction, _ text: String, in asking: inout TransactionService.Asking
  ) async throws {
    guard let user = made.record.user else { return }
    let found = try await context.storage.pushAuthMechanisms(user: user)
    for mechanism in found where mechanism.state == .active {
      let isCarried = target(of: mechanism).map { context.push.delivery.mayCarry($0) } ?? false
      guard let name = mechanism.mechanism, isCarried || isAskedByItself(mechanism) else { continue }
      do { try ask(made, text, mechanism, named: name, in: &asking) } catch {
        context.log.error(
          "pushauth.failed", ["mechanism": mechanism.id, "cause": "its message cannot be made"])
      }
    }
  }

  private func ask(
    _ made: TransactionService.NewTransaction, _ text: String, _ mechanism: PushAuthMechanismRecord,
    named name: String, in asking: inout TransactionService.Asking
  ) throws {
    let transaction = made.record
    let asked = try message(
      asking: made, text, made.number == nil ? .default : .challenge, to: mechanism, named: name)
    guard let asked else {
      context.log.info("pushauth.tooLong", ["mechanism": mechanism.id, "transaction": transaction.id])
      return
    }
    asking.records.messages.append((asked.record, asked.event(by: .server, context)))
    asking.deliveries.append { [self] in
      _ = await deliver(asked.token, asked.message, mechanism, until: transaction.expires) {
        await TransactionService.isPending(transaction.id, context)
      }
    }
  }

  /// A message that asks a transaction, before it is stored.
  struct Outgoing: Sendable {
    let record: PushAuthMessageRecord
    let message: PushAuthMessage
    /// The message as push services carry it.
    let token: String
    fileprivate let user: UserID

    /// The event of its making.
    func event(by actor: AuditActor, _ context: ServiceContext) -> AuditRecord {
      context.audit(by: actor)(
        .pushAuthMessage(user: user, mechanism: record.mechanism, message: record.id))
    }
  }

  /// Makes a message that asks a transaction.
  ///
  /// - Parameters:
  ///   - made: The transaction, with the number that is right among those that the app shows.
  ///   - text: What the app shows; `nil` for its own words.
  ///   - kind: How the app has the user answer.
  ///   - payload: What goes to the app besides.
  ///   - context: Where the user is said to be, as apps read it.
  ///   - mechanism: The app.
  ///   - name: What the app calls its mechanism.
  /// - Returns: The message; `nil` where it is longer than push services carry.
  /// - Throws: ``Problem``.
  func message(
    asking made: TransactionService.NewTransaction, _ text: String?, _ kind: PushAuthKind,
    payload: String? = nil, in context: String? = nil, to mechanism: PushAuthMechanismRecord,
    named name: String
  ) throws -> Outgoing? {
    let (random, transaction) = (self.context.random, made.record)
    let id = ID<PushAuthMessageRecord>(random: random)
    let right = made.number.flatMap { Int64($0.digits) }
    let count = isAskedByItself(mechanism) ? Self.ownNumberCount : Self.numberCount
    let message = PushAuthMessage(
      messageID: Self.authenticates + id.text, mechanismID: name, challenge: random.bytes(32),
      loadBalancer: "route=1", timeToLive: Double(transaction.expires - transaction.created),
      createdMillis: transaction.created * 1000, kind: kind,
      numbers: right.map { numbers(with: $0, count: count) } ?? [],
      text: text, customPayload: payload, context: context, userID: mechanism.user.text)
    let token = try key(of: mechanism).sign(message.boundClaims)
    guard token.utf8.count <= Self.maximumTokenByteCount else { return nil }
    var record = PushAuthMessageRecord(
      id: id, of: transaction.id, mechanism: mechanism.id, kind: kind.rawValue, challenge: message.challenge,
      sealedNumber: try right.map { try seal($0, of: id) }, created: transaction.created,
      expires: transaction.expires)
    record.sealedToken = try sealed(token, of: id)
    return Outgoing(record: record, message: message, token: token, user: mechanism.user)
  }
}
