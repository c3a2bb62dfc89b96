import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let pending = Command(
    "pending", "List the transactions that wait for a decision",
    description: """
      The command lists those of all containers, or of the named one; if one server cannot be reached, it still asks \
      the others. If a session key has its own password, that one is asked for, in the order of signet list. An \
      activation that was interrupted is completed first; with --password-fd, the password of its session key then \
      comes first.
      """,
    options: [ContainerChoice.option]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    var lists: [(container: Container, list: TransactionList)] = []
    var failure: (any Error)?
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, prompting: true)
    let containers = try await ContainerChoice.containers(arguments, of: device)
    for container in containers {
      let answer: Result<TransactionList, any Error>
      answer = try await options.withPassword(for: container, key: .sessionTransport) { session in
        do {
          return .success(
            try await container.server.named {
              try await device.transactionList(for: container, by: session)
            })
        } catch { return .failure(error) }
      }
      do { lists.append((container, try answer.get())) } catch  where containers.count > 1 {
        failure = failure ?? error
        let reason = TerminalText(describing: error, limit: 2000)
        arguments.errorOutput.print("signet: \(container.fullName): \(reason)")
      }
    }
    report(lists, arguments)
    // The available lists are printed; the exit status still reports the failure.
    return failure.map { exitCode(of: $0) } ?? .success
  }

  private static func report(
    _ lists: [(container: Container, list: TransactionList)], _ arguments: Arguments
  ) {
    let renewals = lists.filter(\.list.isRenewalRequested).map(\.container)
    if arguments.isSet("json") {
      let transactions = lists.flatMap { container, list in
        list.transactions.map { JSONValue.object($0.listing(for: container)) }
      }
      let object: JSONObject = [
        "transactions": .array(transactions), "renewalWanted": .bool(!renewals.isEmpty),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
      return
    }
    for container in renewals {
      arguments.errorOutput.print(
        lists.count == 1
          ? "The server asks for new keys; make them: \(command: "signet renew")"
          : "The server asks for new keys of \(container.fullName); make them: \(command: "signet renew --container \(container.shortID)")"
      )
    }
    if !lists.isEmpty, lists.allSatisfy({ $0.list.transactions.isEmpty }) {
      arguments.errorOutput.print("Nothing waits for a decision.")
    }
    for (container, list) in lists {
      for transaction in list.transactions {
        transaction.print(of: container, isNamed: lists.count > 1, arguments)
      }
    }
  }

  static let approve = decision(
    .accepted, "approve",
    options: [
      .value(
        "number", "The number that the other side shows, where it shows one; else it is asked for",
        named: "digits"),
      .value(
        "offline",
        "Approve the transaction in this file, a picture of a QR code or a text, without a network; prints 8 digits",
        named: "file", completion: .file),
      .value(
        "typed",
        "Approve the transaction of these digits, which a relying party shows, without a network or a camera; prints 8 digits",
        named: "digits"),
      .value(
        "value",
        "With --typed, a value that the relying party asks for, in its order; else they are asked for",
        named: "text", isRepeatable: true),
    ],
    description: """
      Without an id, the waiting transaction is shown; if several wait, the command asks for one.

      What is shown is what is signed: the content, the decision, the time, the end, and the names of server, user and \
      device. Words around it are in the language of LC_ALL, LC_MESSAGES or LANG: English, German, French or Spanish. \
      The password, or a finger if that is enabled, is asked for afterwards; the password of the session key, if it \
      has its own, before.

      With --typed this device knows nothing of the transaction but the values that its user types. Type the values \
      that you intend, not those that somebody tells you. An amount has its currency: '250.00 EUR'. Spaces and small \
      letters are allowed.
      """)

  static let deny = decision(
    .denied, "deny",
    description: "A denial is signed like an approval, so that nobody else can make one.")

  static let report = decision(
    .reported, "report",
    description: """
      Use this if the user has not started the transaction: somebody else may know the user's password. The relying \
      party is notified, and has to wait before it may ask again.
      """)

  static let cancel = Command(
    "cancel", "Cancel a transaction, without signing anything",
    description: """
      The transaction ends for all devices of the user. No password is needed, except that of the session key, if it \
      has its own. The relying party is told the reason; for a denial that it can show to others, use deny or report.
      """,
    options: [
      ContainerChoice.option, picture, .flag("suspicious", "Mark the transaction as suspicious"),
      .value("message", "A message for the relying party: up to 1000 characters", named: "text"),
    ],
    arguments: [identifier]
  ) { arguments in
    let cancellation = try Cancellation(
      arguments.isSet("suspicious") ? .notifySuspicious : .userCancel,
      message: arguments.optionalString("message") ?? "")
    let cancelled = try await ChosenTransaction.with(arguments) { chosen, keys in
      try await chosen.container.server.named {
        try await chosen.device.cancel(
          chosen.transaction.id, cancellation, with: chosen.container, session: keys)
      }
      return chosen
    }
    cancelled.reportOutcome("cancelled", "Cancelled", arguments)
    return .success
  }

  private static let identifier = Argument(
    "id",
    "The transaction, as signet pending shows it, or a link to one; not needed at a terminal, or where one waits",
    arity: .optional)
  private static let picture = Option.value(
    "qr", "The transaction whose link is in this PNG picture", named: "file", completion: .file)

  private static func decision(
    _ status: DecisionStatus, _ name: String, options: [Option] = [], description: String
  ) -> Command {
    Command(
      name, status.summary, description: description,
      options: [
        ContainerChoice.option, picture,
        .flag("yes", "Do not ask for confirmation if no password is needed", short: "y"),
      ] + options,
      arguments: [identifier]
    ) { arguments in
      if status == .accepted, let path = arguments.optionalString("offline") {
        return try await approveOffline(path, arguments)
      }
      if status == .accepted, let challenge = arguments.optionalString("typed") {
        return try await approveTyped(challenge, arguments)
      }
      guard status != .accepted || arguments.strings("value").isEmpty else {
        throw UsageFailure.refused("--value requires --typed")
      }
      let matchingNumber =
        try status == .accepted
        ? arguments.optionalString("number").map { try Self.number($0, as: "--number", .usage) } : nil
      let decided: ChosenTransaction? = try await ChosenTransaction.with(arguments) { chosen, keys in
        try await chosen.decide(status, number: matchingNumber, session: keys) ? chosen : nil
      }
      guard let decided else {
        arguments.errorOutput.print("Nothing was signed.")
        return .failure
      }
      decided.reportOutcome(status.rawValue, status.done, arguments)
      return .success
    }
  }

  fileprivate static func ask(for digits: Int) async throws -> MatchingNumber {
    let line = try await answering(with: "--number") {
      try await Question.terminal.line("The \(digits) digits that the other side shows: ")
    }
    return try number(line, as: "the number", .dataError)
  }

  private static func number(_ text: String, as name: String, _ code: ExitCode) throws -> MatchingNumber {
    do throws(WireFailure) { return try MatchingNumber(text) } catch {
      let counts = MatchingNumber.digitCounts
      throw CommandFailure(
        code, "\(ours: name) has \(counts.lowerBound) to \(counts.upperBound) digits, and nothing else")
    }
  }
}

/// One of the waiting transactions, which a command applies to.
struct ChosenTransaction: Sendable {
  let options: DeviceOptions
  let device: Device
  let container: Container
  let transaction: TransactionRequest

  /// Shows the transaction, asks for the required input, and signs the decision.
  ///
  /// - Parameters:
  ///   - status: The decision.
  ///   - typedNumber: The number that the other side shows; asked for if the transaction needs one and it is missing.
  ///   - keys: The open keys of the container's session.
  /// - Returns: False if the user stopped before signing.
  /// - Throws: The error of the input, the device or the server.
  func decide(
    _ status: DecisionStatus, number typedNumber: MatchingNumber? = nil, session keys: Device.SessionKeys
  ) async throws -> Bool {
    options.arguments.announce(
      status.verb, transaction.content, by: container, (transaction.id, transaction.expires))
    var number = typedNumber
    if status == .accepted, number == nil, let digits = transaction.numberDigits {
      number = try await Command.ask(for: digits)
    }
    guard
      try await options.arguments.confirmsUse("Sign this", of: .transactionSigning, of: container)
    else { return false }
    try await container.server.named {
      try await options.authenticated(
        container, key: .transactionSigning, on: device, to: TerminalText(ours: status.summary)
      ) { [number] in
        try await device.decide(
          transaction, status, number: number, with: container, by: $0, session: keys)
      }
    }
    return true
  }

  /// Runs a body with the transaction that the command line names, and the open keys of the container's session.
  ///
  /// The keys are opened once, because each opening with a password is a slow derivation and a counted attempt.
  static func with<Value>(
    _ arguments: Arguments, _ body: (ChosenTransaction, Device.SessionKeys) async throws -> Value
  ) async throws -> Value {
    let options = try DeviceOptions(arguments)
    let link = try link(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, prompting: true)
    if link == nil, let id = arguments.optionalString("id"),
      case let containers = try await ContainerChoice.containers(arguments, of: device), containers.count > 1
    {
      return try await find(id, in: containers, options, device, body)
    }
    let container = try await container(for: link, arguments, of: device)
    let keys = try await options.withPassword(for: container, key: .sessionTransport) {
      try await device.sessionKeys(of: container, by: $0)
    }
    let transaction: TransactionRequest
    if let link {
      transaction = try await container.server.named {
        try await device.transaction(link.id, for: container, with: keys)
      }
    } else {
      let waiting = try await container.server.named {
        try await device.transactionList(for: container, with: keys).transactions
      }
      if let id = arguments.optionalString("id") {
        guard let found = waiting.first(where: { $0.id.text == id }) else {
          throw try await reasonNotWaiting(id, for: container, on: device, with: keys) ?? noSuchTransaction
        }
        transaction = found
      } else {
        transaction = try await choose(arguments, from: waiting)
      }
    }
    return try await body(
      Self(options: options, device: device, container: container, transaction: transaction), keys)
  }

  /// Runs a body with the transaction of this ID, and its container.
  ///
  /// Containers whose session key needs no password come first, so that the user is not asked unnecessarily.
  private static func find<Value>(
    _ id: String, in containers: [Container], _ options: DeviceOptions, _ device: Device,
    _ body: (ChosenTransaction, Device.SessionKeys) async throws -> Value
  ) async throws -> Value {
    let needsPassword = { (container: Container) in
      container.protection(of: .sessionTransport).passwordPolicy != nil
    }
    var ended: CommandFailure?
    var failure: (any Error)?
    for container in containers.filter({ !needsPassword($0) }) + containers.filter(needsPassword) {
      let opened: (TransactionRequest, Device.SessionKeys)? = try await options.withPassword(
        for: container, key: .sessionTransport
      ) { session in
        let keys: Device.SessionKeys
        let waiting: [TransactionRequest]
        do {
          keys = try await device.sessionKeys(of: container, by: session)
          waiting = try await container.server.named {
            try await device.transactionList(for: container, with: keys).transactions
          }
        } catch {
          failure = failure ?? error
          return nil
        }
        guard let found = waiting.first(where: { $0.id.text == id }) else {
          do {
            let end = try await Self.reasonNotWaiting(id, for: container, on: device, with: keys)
            ended = ended ?? end
          } catch { failure = failure ?? error }
          return nil
        }
        return (found, keys)
      }
      if let (found, keys) = opened {
        return try await body(
          Self(options: options, device: device, container: container, transaction: found), keys)
      }
    }
    if let ended { throw ended }
    // A container that could not be asked may have it.
    throw failure ?? noSuchTransaction
  }

  private static let noSuchTransaction = CommandFailure(
    .dataError, "no such transaction; 'signet pending' lists what waits")

  /// Returns why a transaction does not wait for a container: it has ended, or is for any user; `nil` if the server does not
  /// know it.
  private static func reasonNotWaiting(
    _ id: String, for container: Container, on device: Device, with keys: Device.SessionKeys
  ) async throws -> CommandFailure? {
    let transaction: TransactionID
    do throws(WireFailure) { transaction = try TransactionID(id) } catch { return nil }
    do {
      _ = try await container.server.named {
        try await device.transaction(transaction, for: container, with: keys)
      }
    } catch let failure as SignetError {
      switch failure {
      case .transactionDecided, .transactionCancelled, .transactionExpired:
        return CommandFailure(exitCode(of: failure), failure.message)
      case .noSuchTransaction: return nil
      default: throw failure
      }
    }
    return CommandFailure(.dataError, "the transaction is for any user; give its link (signet:…)")
  }

  private static func link(_ arguments: Arguments) throws -> TransactionLink? {
    if let path = arguments.optionalString("qr") {
      guard !arguments.isSet("id") else {
        throw UsageFailure.refused("--qr excludes an id: the picture names the transaction")
      }
      return try TransactionLink(
        parsing: ScannedKind.expect(.transactionLink, ScannedText.read(path)))
    }
    guard let text = arguments.optionalString("id") else { return nil }
    _ = try ScannedKind.expect(.transactionLink, text)
    return text.hasPrefix("signet:") ? try TransactionLink(parsing: text) : nil
  }

  private static func container(
    for link: TransactionLink?, _ arguments: Arguments, of device: Device
  ) async throws -> Container {
    guard let link else { return try await ContainerChoice.container(arguments, of: device) }
    guard arguments.isSet("container") else { return try await device.container(at: link.server) }
    let container = try await ContainerChoice.container(arguments, of: device)
    guard container.server == link.server else {
      throw CommandFailure(.dataError, "the transaction is at another server than that container")
    }
    return container
  }

  private static func choose(
    _ arguments: Arguments, from transactions: [TransactionRequest]
  ) async throws -> TransactionRequest {
    if transactions.count == 1, let only = transactions.first { return only }
    guard !transactions.isEmpty else { throw CommandFailure(.failure, "nothing waits for a decision") }
    let many = CommandFailure(
      .usage, "\(transactions.count) transactions wait; name one (signet pending shows them)")
    guard SecretInput.terminal.isTerminal, !arguments.isSet("yes"), !arguments.isSet("json"),
      !arguments.isSet("password-fd")
    else { throw many }
    for (index, transaction) in transactions.enumerated() {
      arguments.errorOutput.print("\(index + 1)  until \(ours: Moment.text(transaction.expires))")
      arguments.errorOutput.print(
        TransactionText(transaction.content, on: arguments.errorOutput).body)
    }
    let line = try await Question.terminal.line("Which one? [1-\(transactions.count)] ")
    guard let number = Int(line), transactions.indices.contains(number - 1) else {
      throw CommandFailure(.failure, "none was chosen; nothing was changed")
    }
    return transactions[number - 1]
  }

  func reportOutcome(_ status: String, _ verb: String, _ arguments: Arguments) {
    if arguments.isSet("json") {
      let object: JSONObject = ["id": .string(transaction.id.text), "status": .string(status)]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.output.print("\(ours: verb) \(transaction.id.text).")
    }
  }
}

extension DecisionStatus {
  fileprivate var verb: String {
    switch self {
    case .accepted: "approve"
    case .denied: "deny"
    case .reported: "report, as somebody else's doing"
    }
  }

  /// The summary of the command for this decision.
  fileprivate var summary: String {
    switch self {
    case .accepted: "Approve a transaction: sign it with this device's key"
    case .denied: "Deny a transaction: sign that it is not wanted"
    case .reported: "Report a transaction: sign that somebody else asked for it"
    }
  }

  var done: String {
    switch self {
    case .accepted: "Accepted"
    case .denied: "Denied"
    case .reported: "Reported"
    }
  }
}

extension TransactionRequest {
  func listing(for container: Container) -> JSONObject {
    var object: JSONObject = [
      "id": .string(id.text), "container": .string(container.id.description),
      "content": .string(content.json), "created": .integer(created),
      "expires": .integer(expires),
      "statuses": .array(statuses.map { .string($0.rawValue) }),
    ]
    if let numberDigits { object["digits"] = .integer(Int64(numberDigits)) }
    return object
  }
}
