import SignetJSON
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server transaction …`: commands for relying parties.
enum TransactionCommands {
  static let group = Command(
    "transaction", "Ask users to decide, as a relying party", options: OperatorOptions.connection,
    commands: [
      Command(
        "create", "Ask a user to accept or deny something",
        description: """
          The user is asked the text, or with --form typed fields: a JSON object {"template":…,"fields":[…]}, as the protocol's \
          section 5 has it. What is shown and signed is printed with --json, as content: compare it with the signed one, byte for \
          byte.
          """,
        options: order + [
          .flag(
            "typed", "Let the user approve by typing digits into a device that cannot display the transaction"
          ),
          .value(
            "typed-field", "With --typed, have the user type the value of this field too; the first is 0",
            named: "n", isRepeatable: true),
        ],
        arguments: [UserCommands.user, text],
        examples: [
          .init(
            "signet-server transaction create alice 'Pay 250.00 EUR to Jane Doe' --data ./demo --key-file shop.key",
            "Ask alice for a payment")
        ], synonyms: ["add", "new"], handler: create),
      Command(
        "show", "Show a transaction and how it ended",
        description: """
          With --wait it shows the transaction once it is decided, or the waiting time has passed, and the \
          exit status says how: 0 accepted, 1 anything else that is final, 75 still pending.
          """,
        options: [.value("wait", "How long to wait for the decision: 0s to 24h", named: "duration")],
        arguments: [identifier], handler: show),
      Command(
        "withdraw", "Withdraw a transaction before it is decided",
        options: [.value("reason", "The reason: up to 1000 characters", named: "text")],
        arguments: [identifier], synonyms: ["cancel", "delete", "revoke"]
      ) { arguments in
        try await arguments.ask(
          API.withdrawTransaction, WithdrawalQuery(reason: arguments.optionalString("reason"))
        ) {
          arguments.output.print("withdrawn \($0)")
        }
      },
      Command(
        "list", "List transactions, newest first; with the operator's key",
        description:
          "Lists the transactions of all requesters. 'transaction show' says how one ended, and what was signed.",
        options: [
          .value("user", "Only transactions of this user", named: "user"),
          .value(
            "status", "Only transactions in this state",
            completion: .choices(TransactionRecord.State.allCases.map(\.rawValue))),
          .value("limit", "The maximum number of transactions", named: "n", default: "100"),
        ], handler: list),
      VerifyCommand.command,
    ] + CarriedTransactionCommands.all)

  private static let identifier = Argument("id", "The transaction's id")

  // MARK: What is asked

  /// The options that describe the request, for any user.
  static let order: [Option] = [
    .value("lifetime", "How long it can be decided: 1s to 24h", named: "duration", default: "5m"),
    .value("form", "Ask typed fields: JSON, in this file", named: "file", completion: .file),
    .value("place", "Say where the user is seen: the place", named: "text"),
    .value("browser", "Say where the user is seen: the browser or app", named: "text"),
    .value("address", "Say where the user is seen: the network address", named: "text"),
    .value(
      "status", "The decisions that the user can make; denied is always possible", isRepeatable: true,
      completion: .choices(["accepted", "denied", "reported"])),
    .value("number", "Show a number of this many digits, 2 to 6, which the user must type", named: "n"),
    .value(
      "requirement",
      "The requirement that an approval must meet: one name, such as urn:signet:acr:answered, or one of server.json; signed content if not set",
      named: "name"),
  ]
  static let text = Argument("text", "The text to decide on, if --form is not given", arity: .optional)

  /// Reads the request without its user.
  ///
  /// - Throws: `UsageFailure`, and `CommandFailure` for a form that cannot be read.
  static func order(_ arguments: Arguments) throws -> NewTransaction {
    let lifetimes = Int(TransactionDraft.lifetimes.lowerBound)...Int(TransactionDraft.lifetimes.upperBound)
    var order = NewTransaction()
    order.lifetime = Int64(try arguments.seconds("lifetime", in: lifetimes))
    switch (arguments.optionalString("text"), arguments.optionalString("form")) {
    case (let text?, nil): order.text = text
    case (nil, let path?): order.form = try jsonObject(at: path, option: "form")
    default: throw UsageFailure.refused("give either a text or --form")
    }
    var context = JSONObject()
    for name in ["place", "browser", "address"] {
      if let text = arguments.optionalString(name) { context[name] = .string(text) }
    }
    if !context.isEmpty { order.context = context }
    let statuses = arguments.strings("status").compactMap(DecisionStatus.init(rawValue:))
    if !statuses.isEmpty { order.statuses = statuses }
    order.number = try arguments.optionalInteger("number", in: 2...6).map { .init(digits: Int64($0)) }
    order.requirement = arguments.optionalString("requirement")
    return order
  }

  /// Returns the field for the transaction's number, which cannot be shown again.
  static func number(of created: MadeTransaction) -> [(String, String)] {
    created.number.map { [("Number", $0)] } ?? []
  }

  private static func create(_ arguments: Arguments) async throws -> ExitCode {
    var order = try order(arguments)
    order.user = try arguments.value("user")
    order.typed = try typedFields(arguments)
    return try await arguments.ask(API.createTransaction, order) { created in
      arguments.output.print(
        fields: [
          ("Transaction", created.id.text), ("Status", created.status), ("Expires", utc(created.expires)),
        ]
          + number(of: created))
    }
  }

  private static func typedFields(_ arguments: Arguments) throws -> [Int64]? {
    let fields = arguments.strings("typed-field")
    guard arguments.isSet("typed") else {
      guard fields.isEmpty else { throw UsageFailure.refused("--typed-field goes with --typed") }
      return nil
    }
    return try fields.map { text in
      guard let field = Int64(text), field >= 0 else {
        throw UsageFailure.refused("--typed-field is the position of a field; the first is 0")
      }
      return field
    }
  }

  private static func show(_ arguments: Arguments) async throws -> ExitCode {
    let wait = arguments.isSet("wait") ? try arguments.seconds("wait", in: 0...86_400) : nil
    let answer = try await OperatorClient(arguments, for: API.showTransaction).decided(
      API.showTransaction, within: wait ?? 0
    ) { $0.status == .pending }
    arguments.show(answer) { print($0, arguments.output) }
    guard wait != nil else { return .success }
    return switch answer.message.status {
    case .accepted: .success
    case .pending: .temporaryFailure
    default: .failure
    }
  }

  private static func list(_ arguments: Arguments) async throws -> ExitCode {
    let limit = try arguments.integer("limit", in: 1...1_000_000)
    return try await arguments.askPages(API.listTransactions, limit: limit, pageSize: 100) { last, count in
      try TransactionQuery(
        user: arguments.optionalValue("user"), status: arguments.optionalValue("status"),
        before: last?.transactions.last?.id, limit: count)
    } elements: {
      $0.transactions
    } show: { found in
      arguments.output.print(
        ["TRANSACTION", "STATUS", .init("USER", limit: 40), "CREATED", .init("CONTENT", limit: 80)],
        found.map { [$0.id.text, $0.status.rawValue, $0.user ?? "-", utc($0.created), $0.content] })
    }
  }

  private static func print(_ transaction: TransactionDescription, _ output: Terminal) {
    var fields = [
      ("Transaction", transaction.id.text), ("User", transaction.user ?? "-"),
      ("Content", transaction.content),
      ("Status", transaction.status.rawValue), ("Created", utc(transaction.created)),
      ("Expires", utc(transaction.expires)),
    ]
    if let requirements = transaction.requirements {
      fields.append(("Requires", requirements.joined(separator: " or ")))
    }
    if let decision = transaction.decision {
      fields += [("Decided", utc(decision.time)), ("Container", decision.container.text)]
    }
    if let uaf = transaction.uaf {
      fields += [("Decided", utc(uaf.time)), ("UAF operation", uaf.session.text)]
    }
    if let app = transaction.app { fields += [("Decided", utc(app.time)), ("App", app.mechanism.text)] }
    if let end = transaction.end {
      fields += [("Ended", utc(end.time)), ("Reason", reason(end.reason))]
      if let message = end.message { fields.append(("Message", message)) }
    }
    output.print(fields: fields)
  }

  /// Returns a sentence for the server's own reasons; texts of a relying party or a user stay unchanged.
  private static func reason(_ code: String) -> String {
    switch code {
    case "userNotActive": "the user is suspended or deleted"
    case "noAuthenticator": "no authenticator of the user can answer it any more"
    default: code
    }
  }
}
