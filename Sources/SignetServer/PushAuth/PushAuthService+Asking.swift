import SignetCrypto
import SignetProtocol
import SignetPush
import SignetPushAuth
import SignetStorage

extension PushAuthService {
  /// Adds messages that ask the user's apps: one to each app that a service delivers to, or that polls.
  ///
  /// If a message cannot be created, this is logged and the app is skipped, since other authenticators may still answer.
  ///
  /// - Parameters:
  ///   - made: The transaction, with the number that the user must select.
  ///   - text: The text with the requester and the content.
  ///   - authenticatorRequests: The records to store and the deliveries to send.
  /// - Throws: ``Problem``.
  func ask(
    _ made: TransactionService.NewTransaction, _ text: String,
    in authenticatorRequests: inout TransactionService.AuthenticatorRequests
  ) async throws {
    guard let user = made.record.user else { return }
    let found = try await context.storage.pushAuthMechanisms(user: user)
    for mechanism in found where mechanism.state == .active {
      let isDeliverable = target(of: mechanism).map { context.push.delivery.mayCarry($0) } ?? false
      guard let name = mechanism.mechanism, isDeliverable || isPolling(mechanism) else { continue }
      do { try ask(made, text, mechanism, named: name, in: &authenticatorRequests) } catch {
        context.log.error(
          "pushauth.failed", ["mechanism": mechanism.id, "cause": "its message cannot be created"])
      }
    }
  }

  private func ask(
    _ made: TransactionService.NewTransaction, _ text: String, _ mechanism: PushAuthMechanismRecord,
    named name: String, in authenticatorRequests: inout TransactionService.AuthenticatorRequests
  ) throws {
    let transaction = made.record
    let prepared = try message(
      asking: made, text, made.number == nil ? .default : .challenge, to: mechanism, named: name)
    guard let prepared else {
      context.log.info("pushauth.tooLong", ["mechanism": mechanism.id, "transaction": transaction.id])
      return
    }
    authenticatorRequests.records.messages.append((prepared.record, prepared.event(by: .server, context)))
    authenticatorRequests.deliveries.append { [self] in
      _ = await deliver(prepared.token, prepared.message, mechanism, until: transaction.expires) {
        await TransactionService.isPending(transaction.id, context)
      }
    }
  }

  /// A message that asks about a transaction, before it is stored.
  struct Outgoing: Sendable {
    let record: PushAuthMessageRecord
    let message: PushAuthMessage
    /// The message in the form for push services.
    let token: String
    fileprivate let user: UserID

    func event(by actor: AuditActor, _ context: ServiceContext) -> AuditRecord {
      context.audit(by: actor)(
        .pushAuthMessage(user: user, mechanism: record.mechanism, message: record.id))
    }
  }

  /// Creates a message that asks about a transaction.
  ///
  /// - Parameters:
  ///   - made: The transaction, with the right one of the numbers that the app shows.
  ///   - text: The text that the app shows; `nil` for the app's default.
  ///   - kind: The way in which the user answers.
  ///   - payload: Further data for the app.
  ///   - context: The user's place, in the form that apps expect.
  ///   - mechanism: The app.
  ///   - name: The app's own name for its mechanism.
  /// - Returns: The message; `nil` if it is longer than push services carry.
  /// - Throws: ``Problem``.
  func message(
    asking made: TransactionService.NewTransaction, _ text: String?, _ kind: PushAuthKind,
    payload: String? = nil, in context: String? = nil, to mechanism: PushAuthMechanismRecord,
    named name: String
  ) throws -> Outgoing? {
    let (random, transaction) = (self.context.random, made.record)
    let id = ID<PushAuthMessageRecord>(random: random)
    let matchingNumber = made.number.flatMap { Int64($0.digits) }
    let count = isPolling(mechanism) ? Self.ownNumberCount : Self.numberCount
    let message = PushAuthMessage(
      messageID: Self.authenticates + id.text, mechanismID: name, challenge: random.bytes(32),
      loadBalancer: "route=1", timeToLive: Double(transaction.expires - transaction.created),
      createdMillis: transaction.created * 1000, kind: kind,
      numbers: matchingNumber.map { numbers(with: $0, count: count) } ?? [],
      text: text, customPayload: payload, context: context, userID: mechanism.user.text)
    let token = try key(of: mechanism).sign(message.boundClaims)
    guard token.utf8.count <= Self.maximumTokenByteCount else { return nil }
    var record = PushAuthMessageRecord(
      id: id, of: transaction.id, mechanism: mechanism.id, kind: kind.rawValue, challenge: message.challenge,
      sealedNumber: try matchingNumber.map { try seal($0, of: id) }, created: transaction.created,
      expires: transaction.expires)
    record.sealedToken = try sealed(token, of: id)
    return Outgoing(record: record, message: message, token: token, user: mechanism.user)
  }
}
