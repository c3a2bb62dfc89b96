import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem
package import SignetUAF

/// Creates the requests of the protocol, each with a fresh challenge (UAF Protocol sections 3.4.4, 3.5.4, 3.6.4).
package struct UAFRequests: Sendable {
  let context: ServiceContext
  let setup: UAFSetup
  let names: UAFNames
  private let serverDataKey: HMACKey
  private let transactions: TransactionService

  /// Creates the request maker, with the `serverData` key derived from the master key.
  package init(_ context: ServiceContext, _ setup: UAFSetup, _ transactions: TransactionService) {
    self.context = context
    self.setup = setup
    self.transactions = transactions
    names = UAFNames(context.settings.serverURL, setup.settings)
    serverDataKey = context.masterKey.serverDataKey()
  }

  /// A validated order for an operation: its user, its policy and its transaction.
  struct Order: Sendable {
    let operation: UAFOperation
    let context: UAFContext
    let user: UserID?
    /// The transaction of this server that the response decides.
    let transaction: TransactionRecord?
    /// True if the server stores the transaction together with the operation.
    var isTransactionNew = false
    /// True if the targets go out as the client named them: the conformance tool tests message formats, not stored keys.
    var isLiteral = false
  }

  package struct Made: Sendable {
    let order: Order
    let session: UAFOperationRecord
    /// The request as sent: JSON.
    package let text: String
  }

  /// Creates a request and stores its operation.
  ///
  /// - Parameters:
  ///   - asked: The client's message.
  ///   - operation: The operation that the path is for.
  ///   - caller: The verified caller.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: The request; its operation is stored.
  package func make(
    _ asked: GetUAFRequest, for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> Made {
    let order = try await order(asked, for: operation, by: caller)
    var session = session(for: order, asked.context)
    // The request holds the other details of the order. The later issue of the user's token needs the policy's name as well.
    session.context = order.context.policy.map { JSONValue.object(["policy": .string($0)]).text }
    let bytes = try await request(for: order, session: session.id)
    session.request = bytes
    try await add(&session, answering: uafOnlyTransaction(order, by: caller), asked: caller)
    return Made(order: order, session: session, text: String(decoding: bytes, as: UTF8.self))
  }

  /// Returns the transaction of a relying party that only UAF may confirm, to be stored with the operation.
  ///
  /// It is `nil` if there is no transaction or if the transaction is stored already.
  func uafOnlyTransaction(_ order: Order, by caller: UAFCaller) -> UAFOnlyTransaction? {
    guard order.isTransactionNew, let transaction = order.transaction, case .relyingParty(let key) = caller
    else { return nil }
    return UAFOnlyTransaction(
      transaction, key: key.id, audit: transactions.event(ofAdding: transaction, by: caller.actor))
  }

  private func add(
    _ session: inout UAFOperationRecord, answering transaction: UAFOnlyTransaction?, asked caller: UAFCaller
  ) async throws {
    // Any client may ask to authenticate. The audit log records only the outcome, so strangers cannot fill it. A limit for
    // each address bounds the open operations they leave behind.
    if case .anyone(let address) = caller {
      session.client = (RateLimitKey(address) ?? .none).digest(under: context.masterKey.clientKey())
      let (record, limit) = (session, Int(setup.settings.openRequests))
      let isAdded = try await context.storage.addUAFOperation(record, ofClientWithAtMost: limit)
      guard isAdded else { throw UAFStatusFailure.tooManyRequests }
      return
    }
    let event = context.audit(by: caller.actor)(
      .uafRequested(session: session.id, operation: session.operation, user: session.user))
    let record = session
    let basis = session.operation == UAFOperation.registration.rawValue ? caller.basis : nil
    // No device is notified: the caller holds the request.
    let outcome = try await context.storage.addUAFOperation(
      record, by: basis, answering: transaction, limits: context.settings.transactionLimits
    ) { $0 == .added ? event : nil }
    try TransactionService.check(outcome)
  }

  /// Validates the message and checks the caller's permission.
  func order(
    _ asked: GetUAFRequest, for operation: UAFOperation, by caller: UAFCaller
  ) async throws -> Order {
    guard asked.operation ?? operation == operation else {
      throw UAFStatusFailure(.badRequest, "op does not match the path")
    }
    var requestContext = try UAFContext(asked.context, for: operation)
    guard setup.rule(named: requestContext.policy, among: context.settings.requirements) != nil else {
      throw UAFStatusFailure(.notFound, "there is no such policy")
    }
    var user: UserID?
    if let username = requestContext.username {
      do throws(WireFailure) { user = try UserID(username) } catch {
        throw UAFStatusFailure(.badRequest, "username: \(error)")
      }
    }
    if operation != .authentication {
      guard let user,
        operation == .deregistration ? caller.mayDeregister(user) : caller.mayManage(user)
      else {
        throw UAFStatusFailure(
          .unauthorized, "send the API key of a relying party, or the user's UAF authorization")
      }
    }
    if case .conformanceTool = caller, let user { try await addForTool(user) }
    if let user {
      let found = try await context.storage.user(user)
      guard found != nil else {
        throw UAFStatusFailure(.notFound, "the user has no registered keys")
      }
    }
    if operation == .deregistration, let devices = caller.confinement {
      let keys = try await credentials(of: user).filter { $0.device.map(devices.contains) ?? false }
      let references = keys.compactMap(\.reference)
      requestContext.targets = try Self.named(requestContext.targets, among: keys).filter { target in
        if case .key(let key) = target { references.contains(key) } else { false }
      }
      guard !requestContext.targets.isEmpty else {
        throw UAFStatusFailure(.notFound, "the user has no such key")
      }
    }
    if !requestContext.transactions.isEmpty, caller.mayOrder {
      _ = try Self.active(try await credentials(of: user), showing: requestContext.transactions, setup.models)
    }
    let transaction = try await transaction(requestContext, user, by: caller)
    var order = Order(
      operation: operation, context: requestContext, user: user, transaction: transaction,
      isTransactionNew: transaction != nil && requestContext.transactionID == nil)
    if case .conformanceTool = caller { order.isLiteral = true }
    return order
  }

  private func addForTool(_ user: UserID) async throws {
    guard try await context.storage.user(user) == nil else { return }
    do { try await UserService(context).add(user, by: .conformance) } catch StorageFailure.exists {}
  }

  /// Returns the named transaction of this server, or a new one for a text.
  ///
  /// It is `nil` for a picture, since only UAF can show one.
  private func transaction(
    _ requestContext: UAFContext, _ user: UserID?, by caller: UAFCaller
  ) async throws -> TransactionRecord? {
    guard requestContext.transactionID != nil || !requestContext.transactions.isEmpty else { return nil }
    guard caller.mayOrder else {
      throw UAFStatusFailure(
        .unauthorized, "send the API key of a relying party to request the confirmation of a transaction")
    }
    guard requestContext.transactions.allSatisfy(\.isShownAsItIs) else {
      throw UAFStatusFailure(.unacceptableContent, "the transaction cannot be displayed as it is signed")
    }
    let looksLikeSender = requestContext.transactions.contains {
      $0.contentType == .text && RequestText.looksLikeSender(String(decoding: $0.content, as: UTF8.self))
    }
    guard !looksLikeSender else {
      throw UAFStatusFailure(
        .unacceptableContent,
        "the text must not begin with \"From:\", with which the server names the relying party")
    }
    if let id = requestContext.transactionID {
      let found = try await context.storage.transaction(id)
      let hasEnded = try await transactions.keepsExpiry(of: found.map { [$0] } ?? [])
      guard let found, found.user == user, found.isAsked(of: .uaf), found.state == .pending, !hasEnded,
        found.sealedNumber == nil, found.offersApproval
      else { throw UAFStatusFailure(.notFound, "there is no such pending transaction of the user") }
      guard Self.shown(found) != nil else { throw Self.notShown }
      return found
    }
    guard let user, case .relyingParty(let key) = caller, requestContext.transactions.count == 1,
      requestContext.transactions[0].contentType == .text
    else { return nil }
    // The same failure as for a user without keys and without a transaction: no key could confirm it.
    guard try await credentials(of: user).contains(where: { $0.state == .active }) else {
      throw UAFStatusFailure(.notFound, "the user has no registered keys")
    }
    let draft = TransactionDraft(
      .text(String(decoding: requestContext.transactions[0].content, as: UTF8.self)),
      from: key.displayName ?? key.name, user: user, lifetime: context.settings.transactionLifetime)
    return try transactions.draft(draft, for: .uaf, by: caller.actor).made.record
  }

  private static let notShown = UAFStatusFailure(
    .unacceptableContent,
    "the transaction must be a text of 1 to 200 ASCII characters that does not begin with \"From:\""
  )

  /// Returns the order with which the server itself asks a user's keys to confirm another party's transaction.
  ///
  /// - Parameter transaction: The transaction.
  /// - Returns: The order and its context as JSON; `nil` if no key of the user can show and confirm the transaction.
  /// - Throws: The storage's failure or ``UAFStatusFailure``.
  func order(confirming transaction: TransactionRecord) async throws -> (order: Order, context: String)? {
    guard let user = transaction.user,
      let rule = setup.rule(named: nil, among: context.settings.requirements),
      let shown = Self.shown(transaction, withRequester: true)
    else { return nil }
    let text = JSONValue.object([
      "username": .id(user), "transactionId": .id(transaction.id), UAFContext.requesterName: true,
    ]).text
    let order = Order(
      operation: .authentication, context: try UAFContext(text, for: .authentication, isTrusted: true),
      user: user,
      transaction: transaction)
    do {
      _ = try self.policy(
        rule, for: try await credentials(of: user), showing: [shown], confirming: transaction)
    } catch is UAFStatusFailure {
      return nil
    }
    return (order, text)
  }

  /// Returns the form of a transaction that UAF authenticators show; `nil` if they could not show it as it is signed.
  ///
  /// Without the requester, it is the text, unless that looks like the line with which the server names the requester. With
  /// the requester, it is the whole request text.
  static func shown(
    _ transaction: TransactionRecord, withRequester isRequesterShown: Bool = false
  ) -> UAFTransaction? {
    do {
      let content = try TransactionContent(parsing: transaction.content)
      if isRequesterShown {
        let text = UAFTransaction(contentType: .text, content: Array(RequestText(content).text.utf8))
        return text?.isShownAsItIs == true ? text : nil
      }
      guard case .text(let text) = content.body, !RequestText.looksLikeSender(text) else { return nil }
      return UAFTransaction(contentType: .text, content: Array(text.utf8))
    } catch { return nil }
  }

  func session(for order: Order, _ text: String?) -> UAFOperationRecord {
    let now = context.clock.now
    var session = UAFOperationRecord(
      id: ID(random: context.random), operation: order.operation.rawValue,
      user: order.user, context: text, created: now,
      expires: now + setup.settings.requestLifetime, state: .requested)
    session.transaction = order.transaction?.id
    return session
  }

  // MARK: Messages

  /// Returns the request of the protocol as JSON.
  ///
  /// - Parameters:
  ///   - order: The validated order.
  ///   - session: The operation's id, which `serverData` binds to the request.
  /// - Throws: ``UAFStatusFailure``.
  /// - Returns: A list with one message.
  func request(for order: Order, session: ID<UAFOperationRecord>) async throws -> [UInt8] {
    let challenge = context.random.bytes(32)
    let header = OperationHeader(
      operation: order.operation, appID: names.appID,
      serverData: serverData(session: session, order.operation, challenge: challenge))
    let rule = setup.rule(named: order.context.policy, among: context.settings.requirements)
    guard let rule else { throw UAFStatusFailure(.notFound, "there is no such policy") }
    let policy = rule.policy
    let credentials = try await credentials(of: order.user)
    switch order.operation {
    case .registration:
      guard let user = order.user else { throw UAFStatusFailure(.badRequest, "username is missing") }
      var policy = policy
      // An authenticator whose key was revoked may register a new one.
      policy.disallowed += Self.criteria(for: credentials.filter { $0.state != .revoked })
      return Array(
        RegistrationRequest(header: header, challenge: challenge, username: user.text, policy: policy)
          .text.utf8)
    case .authentication:
      let shown: [UAFTransaction]
      if let transaction = order.transaction, order.context.transactions.isEmpty {
        guard let text = Self.shown(transaction, withRequester: order.context.isRequesterShown) else {
          throw Self.notShown
        }
        shown = [text]
      } else {
        shown = order.context.transactions
      }
      let narrowed =
        order.user == nil
        ? policy : try self.policy(rule, for: credentials, showing: shown, confirming: order.transaction)
      return Array(
        AuthenticationRequest(
          header: header, challenge: challenge, transactions: shown, policy: narrowed
        ).text.utf8)
    case .deregistration:
      return Array(
        DeregistrationRequest(
          header: header,
          targets: order.isLiteral
            ? order.context.targets : try Self.named(order.context.targets, among: credentials)
        ).text.utf8)
    }
  }

  /// Replaces targets by the user's own keys, each by name.
  ///
  /// On a device with several users, a target for a whole model would also delete the keys of the others. A named key stays
  /// in the list even if it is unknown, so the answer does not reveal which keys exist.
  private static func named(
    _ targets: [DeregistrationRequest.Target], among credentials: [UAFCredentialRecord]
  ) throws -> [DeregistrationRequest.Target] {
    let references = credentials.compactMap(\.reference)
    var named: [DeregistrationRequest.Target] = []
    for target in targets {
      switch target {
      case .everything: named += references.map { .key($0) }
      case .model(let aaid): named += references.filter { $0.aaid == aaid }.map { .key($0) }
      case .key: named.append(target)
      }
    }
    guard !named.isEmpty else { throw UAFStatusFailure(.notFound, "the user has no such key") }
    return named
  }

  private func credentials(of user: UserID?) async throws -> [UAFCredentialRecord] {
    guard let user else { return [] }
    return try await context.storage.uafCredentials(user: user)
  }

  /// Returns keys as match criteria, with one criterion for each model.
  private static func criteria(for credentials: [UAFCredentialRecord]) -> [MatchCriteria] {
    var criteria: [(aaid: AAID, keys: [KeyID])] = []
    for credential in credentials {
      guard let reference = credential.reference else { continue }
      if let index = criteria.firstIndex(where: { $0.aaid == reference.aaid }) {
        criteria[index].keys.append(reference.keyID)
      } else {
        criteria.append((reference.aaid, [reference.keyID]))
      }
    }
    return criteria.map { MatchCriteria(aaids: [$0.aaid], keyIDs: $0.keys) }
  }

  /// Returns the active keys whose models can show one of the forms of the transaction.
  ///
  /// - Throws: ``UAFStatusFailure`` if there are active keys and none of them can show it.
  private static func active(
    _ credentials: [UAFCredentialRecord], showing forms: [UAFTransaction], _ models: AuthenticatorModels
  ) throws -> [UAFCredentialRecord] {
    let active = credentials.filter { $0.state == .active }
    guard !forms.isEmpty else { return active }
    let capable = active.filter { credential in
      guard let model = credential.reference.flatMap({ models[$0.aaid] }) else { return false }
      return forms.contains(where: model.statement.shows)
    }
    guard !capable.isEmpty || active.isEmpty else {
      throw UAFStatusFailure(
        .unacceptableContent, "no authenticator of the user can display any form of the transaction")
    }
    return capable
  }

  /// Narrows a policy to the user's keys.
  ///
  /// Each combination keeps the user's keys that match its criteria and can show one of the forms of the transaction.
  /// They must also be able to meet the requirements that apply in addition to the policy.
  private func policy(
    _ rule: UAFSetup.Rule, for credentials: [UAFCredentialRecord], showing forms: [UAFTransaction],
    confirming transaction: TransactionRecord?
  ) throws -> Policy {
    let (policy, requirements) = (rule.policy, context.settings.requirements)
    let active = try Self.active(credentials, showing: forms, setup.models).filter { credential in
      let evidence = AuthenticationEvidence(of: credential, among: setup.models).atBest(
        confirmingTransaction: transaction != nil)
      return requirements.areMet(rule.requirements, by: evidence)
        && transaction.map { requirements.isOneMet(of: $0.requirements, by: evidence) } ?? true
    }
    var accepted: [[MatchCriteria]] = []
    for combination in policy.accepted {
      var narrowed: [MatchCriteria] = []
      for criterion in combination {
        let matching = active.filter { credential in
          guard let reference = credential.reference, let model = setup.models[reference.aaid] else {
            return false
          }
          let candidate = Policy.Candidate(model.traits, keyIDs: [reference.keyID])
          return criterion.matches(model.traits, keyIDs: [reference.keyID]) && !policy.disallows(candidate)
        }
        let keys = matching.compactMap(\.reference)
        guard !keys.isEmpty else { break }
        var aaids: [AAID] = []
        for key in keys where !aaids.contains(key.aaid) { aaids.append(key.aaid) }
        var named = MatchCriteria(aaids: aaids, keyIDs: keys.map(\.keyID))
        // An authenticator states its version only when it signs.
        named.authenticatorVersion = criterion.authenticatorVersion
        narrowed.append(named)
      }
      if narrowed.count == combination.count { accepted.append(narrowed) }
    }
    // The failure is the same for an unknown user and for one without a key, so it does not reveal which users exist.
    guard !accepted.isEmpty else {
      throw UAFStatusFailure(.notFound, "the user has no registered keys")
    }
    return Policy(accepted: accepted, disallowed: policy.disallowed)
  }

  // MARK: serverData

  /// Returns `serverData`: the operation's id and a MAC that binds it to the operation's kind and challenge.
  private func serverData(session: ID<UAFOperationRecord>, _ operation: UAFOperation, challenge: [UInt8])
    -> String
  {
    let code = serverDataKey.authenticationCode(for: Self.bound(session, operation, challenge))
    return "\(session).\(Base64URL.encode(code))"
  }

  /// Returns the operation that `serverData` names, without verifying its MAC.
  static func session(in serverData: String) -> ID<UAFOperationRecord>? {
    let parts = serverData.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return ID(checking: String(parts[0]))
  }

  /// Returns true if the MAC in `serverData` verifies for this operation and challenge.
  func isAuthentic(
    _ serverData: String, session: ID<UAFOperationRecord>, _ operation: UAFOperation, challenge: [UInt8]
  ) -> Bool {
    guard let dot = serverData.lastIndex(of: "."),
      let code = Base64URL.decodePadded(String(serverData[serverData.index(after: dot)...]))
    else { return false }
    return serverDataKey.isValid(code, for: Self.bound(session, operation, challenge))
  }

  private static func bound(
    _ session: ID<UAFOperationRecord>, _ operation: UAFOperation, _ challenge: [UInt8]
  ) -> [UInt8] {
    Array("\(session)\u{0}\(operation.rawValue)\u{0}".utf8) + challenge
  }
}

extension UAFCredentialRecord {
  /// The key's name in the protocol; `nil` if the stored AAID or key id is malformed.
  var reference: KeyReference? {
    guard let aaid = AAID(aaid), let keyID = KeyID(keyID) else { return nil }
    return KeyReference(aaid: aaid, keyID: keyID)
  }
}

extension AAID {
  /// The stored form: nine characters, hexadecimal digits in upper case.
  var stored: String { AAID(vendor: vendor, model: model).text }
}
