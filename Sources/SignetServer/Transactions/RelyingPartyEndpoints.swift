import SignetJSON
import SignetProtocol
package import SignetStorage

extension API {
  package static let createTransaction = Endpoint(
    .post, "/transactions", .manage, "createTransaction", "Ask a user to decide",
    details: "docs/protocol.md section 7", in: .transactions, by: .relyingParty,
    takes: .json(NewTransaction.self, example: ["user": "alice", "text": "Pay 250.00 EUR to Jane Doe"]),
    answers: .created(MadeTransaction.self, "The transaction, which is pending."),
    or: [.unknown, .conflict, .contentRefused, .tooMany])
  package static let listInitiated = Endpoint(
    .get, "/transactions", .read, "listInitiated", "List the texts that a user signed unasked",
    in: .transactions, by: .relyingParty, takes: .query(InitiatedQuery.self),
    answers: .json(TransactionPage.self, "Oldest first."), or: [.unknown])
  package static let showTransaction = Endpoint(
    .get, "/transactions/{id}", .read, "showTransaction", "Get a transaction and its state",
    in: .transactions, by: .relyingParty, answers: .json(TransactionDescription.self, "The transaction."),
    or: [.unknown])
  package static let withdrawTransaction = Endpoint(
    .delete, "/transactions/{id}", .manage, "withdrawTransaction", "Withdraw a transaction",
    in: .transactions, by: .relyingParty, takes: .query(WithdrawalQuery.self),
    answers: .idWithStatus("withdrawn", "The transaction is withdrawn."), or: [.unknown, .conflict, .gone])
  package static let carryTransaction = Endpoint(
    .get, "/transactions/{id}/offline", .read, "carryTransaction",
    "Get a transaction as a text for a device without a network", details: "docs/protocol.md section 5.9",
    in: .transactions, by: .relyingParty,
    answers: .json(CarriedTransaction.self, "The text, to be displayed as a QR code."),
    or: [.unknown, .conflict, .gone])
  package static let typeTransaction = Endpoint(
    .get, "/transactions/{id}/typed", .read, "typeTransaction",
    "Get the digits that a user types into a device without network and camera",
    details: "docs/protocol.md section 5.10",
    in: .transactions, by: .relyingParty,
    answers: .json(TypedChallenge.self, "Display the challenge only; the user must know the values."),
    or: [.unknown, .conflict, .gone])
  package static let answerTransaction = Endpoint(
    .post, "/transactions/{id}/answer", .grant, "answerTransaction",
    "Accept a transaction with the digits that a device displays", in: .transactions, by: .relyingParty,
    takes: .json(CarriedAnswer.self, example: ["answer": "12345678"]),
    answers: .idWithStatus("accepted", "The transaction is accepted."),
    or: [.unknown, .conflict, .gone, .tooMany])
  package static let listTransactions = Endpoint(
    .get, "/admin/transactions", .read, "listTransactions",
    "List the transactions of all users, for operators",
    details: "docs/protocol.md section 7", in: .transactions, by: .admin,
    takes: .query(TransactionQuery.self),
    answers: .json(
      TransactionPage.self, "Newest first, without \"decision\" and \"end\"."),
    or: [.unknown])
}

/// The transaction endpoints for relying parties and operators (`docs/protocol.md` section 7).
struct RelyingPartyEndpoints: Sendable {
  let context: ServiceContext
  let transactions: TransactionService

  var routes: [Route] {
    [
      API.createTransaction.answered { [self] call in
        let key = call.caller
        let draft = try TransactionDraft(call.input, from: key.displayName ?? key.name)
        let made = try await transactions.create(draft, by: key.actor, key: key.id)
        let record = made.record
        let link = record.user == nil ? record.id : nil
        return MadeTransaction(
          id: record.id, status: record.state.rawValue, content: record.content, expires: record.expires,
          number: made.number?.digits,
          link: link.map { TransactionLink($0, at: context.settings.serverURL).text })
      },
      API.listInitiated.answered { [self] call in
        let found = try await transactions.initiated(
          by: call.input.user, after: call.input.after, limit: Int(call.input.limit ?? 100))
        return TransactionPage(
          transactions: try found.map { try description(of: $0, $1) })
      },
      API.showTransaction.answered { [self] call in
        let (transaction, container) = try await transactions.find(call.id())
        return try description(of: transaction, container)
      },
      API.withdrawTransaction.answered { [transactions] call in
        let id: TransactionID = call.id()
        try await transactions.withdraw(
          id, reason: call.input.reason ?? "", by: call.caller.actor, key: call.caller.id)
        return id
      },
      API.carryTransaction.answered { [transactions] call in
        CarriedTransaction(text: try await transactions.offline(call.id()))
      },
      API.typeTransaction.answered { [transactions] call in
        let typed = try await transactions.typed(call.id())
        return TypedChallenge(challenge: typed.challenge, fields: typed.fields.map { Int64($0) })
      },
      API.answerTransaction.answered { [transactions] call in
        let (key, id): (APIKeyRecord, TransactionID) = (call.caller, call.id())
        try await transactions.answer(
          Self.carried(call.input), to: id,
          by: CodeService.Requester(key.actor, key: key.id, client: call.input.client))
        return id
      },
      // For operators only: a relying party knows its transactions' ids and must not see those of others.
      API.listTransactions.answered { [context, transactions] call in
        if let user = call.input.user { _ = try await UserService(context).find(user) }
        let filter = TransactionFilter(user: call.input.user, state: call.input.status)
        let found = try await transactions.list(
          filter, before: call.input.before, limit: Int(call.input.limit ?? 100))
        return TransactionPage(transactions: found.map { TransactionDescription(summaryOf: $0) })
      },
    ]
  }

  private func description(
    of transaction: TransactionRecord, _ container: ContainerRecord?
  ) throws -> TransactionDescription {
    try TransactionDescription(transaction, container)
  }

  /// The caller states which answer the digits are for.
  ///
  /// The server does not try both, so one guess never counts for two.
  private static func carried(_ body: CarriedAnswer) throws(Problem) -> TransactionService.Carried {
    switch (body.answer, body.typed) {
    case (let digits?, nil): return .scanned(digits)
    case (nil, let digits?): return .typed(digits)
    default: throw Problem(.malformed, "either \"answer\" or \"typed\" is required")
    }
  }
}
