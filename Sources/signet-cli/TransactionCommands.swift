import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let pending = Command(
    "pending", "List the transactions that wait for a decision",
    description: """
      Those of all containers, unless one is named; where one server cannot be asked, the others are. Where a session key has a \
      password of its own, that is asked for, in the order of signet list. An activation that was cut off is finished first; with \
      --password-fd, the password of its session key comes first then.
      """,
    options: [ContainerChoice.option]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    var lists: [(container: Container, list: TransactionList)] = []
    var failure: (any Error)?
    if let device = try options.deviceIfAny() {
      try await options.catchUp(with: device, asking: true)
      let containers = try await ContainerChoice.containers(arguments, of: device)
      for container in containers {
        let session = try await options.password(for: container, key: .sessionTransport)
        do {
          let list = try await container.server.named {
            try await device.transactionList(for: container, by: session.map { .password($0) })
          }
          lists.append((container, list))
        } catch  where containers.count > 1 {
          failure = failure ?? error
          let reason = TerminalText.sanitised("\(container.fullName): \(error)", limit: 2000)
          arguments.errorOutput.print("signet: \(reason)")
        }
      }
    }
    report(lists, arguments)
    // What could be listed is; the exit status still says that something could not.
    return failure.map { exitCode(of: $0) } ?? .success
  }

  private static func report(
    _ lists: [(container: Container, list: TransactionList)], _ arguments: Arguments
  ) {
    let wanted = lists.filter(\.list.isRenewalWanted).map(\.container)
    if arguments.isSet("json") {
      let transactions = lists.flatMap { container, list in
        list.transactions.map { JSONValue.object($0.listing(for: container)) }
      }
      let object: JSONObject = [
        "transactions": .array(transactions), "renewalWanted": .bool(!wanted.isEmpty),
      ]
      arguments.output.print(JSONValue.object(object).text)
      return
    }
    for container in wanted {
      arguments.errorOutput.print(
        lists.count == 1
          ? "The server asks for new keys; make them: signet renew"
          : "The server asks for new keys of \(container.fullName); make them: signet renew --container \(container.shortID)"
      )
    }
    if lists.allSatisfy({ $0.list.transactions.isEmpty }) {
      arguments.errorOutput.print("Nothing waits for a decision.")
    }
    for (container, list) in lists {
      let owner =
        lists.count == 1 ? "" : "  \(container.shortID)  \(TerminalText.sanitised(container.fullName))"
      for transaction in list.transactions {
        arguments.output.print("\(transaction.id.text)  until \(Moment.text(transaction.expires))\(owner)")
        arguments.output.write(quoted(transaction.text))
      }
    }
  }

  static let approve = decision(
    .accepted, "approve", "Approve a transaction: sign it with this device's key",
    description: """
      What is shown is what is signed: the text, the decision, the time, the end, and the names of server, user and device. \
      The password, or a finger where that is enabled, is asked for afterwards; the password of the session key, where it has \
      one of its own, before.
      """)

  static let deny = decision(
    .denied, "deny", "Deny a transaction: sign that it is not wanted",
    description: "A denial is signed like an approval, so that nobody else can make one.")

  private static func decision(
    _ status: DecisionStatus, _ name: String, _ summary: String, description: String
  ) -> Command {
    Command(
      name, summary, description: description,
      options: [ContainerChoice.option, .flag("yes", "Do not ask where no password is needed", short: "y")],
      arguments: [
        Argument(
          "id", "The transaction, as signet pending shows it; not needed where one waits", arity: .optional)
      ]
    ) { arguments in
      let options = try DeviceOptions(arguments)
      let device = try options.device(createIfMissing: false)
      try await options.catchUp(with: device, asking: true)
      let container = try await ContainerChoice.container(arguments, of: device)
      let session = try await options.password(for: container, key: .sessionTransport)
        .map { Authentication.password($0) }
      let waiting = try await container.server.named {
        try await device.pendingTransactions(for: container, by: session)
      }
      let transaction = try choose(arguments, from: waiting)
      show(transaction, status, container, arguments.errorOutput)
      if container.protection(of: .transactionSigning).passwordPolicy == nil, !arguments.isSet("yes") {
        let isSure = try await answering(with: "--yes") {
          try await Question.terminal.confirm("Sign this", preset: false)
        }
        guard isSure else {
          arguments.errorOutput.print("Nothing was signed.")
          return .failure
        }
      }
      try await container.server.named {
        try await options.authenticated(container, key: .transactionSigning, on: device, to: summary) {
          try await device.decide(transaction, status, with: container, by: $0, session: session)
        }
      }
      if arguments.isSet("json") {
        let object: JSONObject = ["id": .string(transaction.id.text), "status": .string(status.rawValue)]
        arguments.output.print(JSONValue.object(object).text)
      } else {
        arguments.output.print("\(status == .accepted ? "Accepted" : "Denied") \(transaction.id.text).")
      }
      return .success
    }
  }
}

private func choose(
  _ arguments: Arguments, from transactions: [TransactionRequest]
) throws -> TransactionRequest {
  guard let wanted = arguments.optionalString("id") else {
    if transactions.count == 1, let only = transactions.first { return only }
    throw transactions.isEmpty
      ? CommandFailure(.failure, "nothing waits for a decision")
      : CommandFailure(
        .usage, "\(transactions.count) transactions wait; name one (signet pending shows them)")
  }
  guard let found = transactions.first(where: { $0.id.text == wanted }) else {
    throw CommandFailure(.dataError, "no such transaction waits; signet pending shows those that do")
  }
  return found
}

/// Shows what will be signed, all of it, on standard error, where the prompt follows.
private func show(
  _ transaction: TransactionRequest, _ status: DecisionStatus, _ container: Container, _ output: Terminal
) {
  output.print(status == .accepted ? "You are about to approve:" : "You are about to deny:")
  output.write(quoted(transaction.text))
  output.print("  as      \(TerminalText.sanitised(container.user.text))")
  output.print("  at      \(container.server.fullForm)")
  output.print("  id      \(transaction.id.text)")
  output.print("  expires \(Moment.text(transaction.expires))")
}

/// The text behind bars, so that nothing in it passes for a line of ours.
private func quoted(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false)
    .map { "  | \(TerminalText.sanitised(String($0)))\n" }.joined()
}

extension TransactionRequest {
  fileprivate func listing(for container: Container) -> JSONObject {
    [
      "id": .string(id.text), "container": .string(container.id.description), "text": .string(text),
      "created": .integer(created),
      "expires": .integer(expires),
      "statuses": .array(statuses.map { .string($0.rawValue) }),
    ]
  }
}
