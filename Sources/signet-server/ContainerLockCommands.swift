import SignetJSON
import SignetPolicy
import SignetServer
import SignetTerminal

/// `signet-server container lock|unlock|wipe|account|policies`.
enum ContainerLockCommands {
  private static let id = Argument("id", "The container's id")
  private static let reason = Option.value(
    "reason", "Why, for the device's user and the audit log; at most 200 characters", named: "text")

  static let all: [Command] = [
    order(
      "lock", by: API.lockContainer,
      "Lock a container, here at once and on its device as soon as that is reached",
      """
      Codes and approvals of the container are not taken from now on; its user can still deny. The device hears of it by its live \
      channel, or when it next asks for its transactions, locks the container too, and sends a signed receipt ('container account').
      """),
    order(
      "unlock", by: API.unlockContainer, "End the lock of a container that an operator has set",
      """
      Locks that the device has set by itself stay: those of its policies, and of its user. Where the server has locked the container \
      for what its device has reported, the next report ends that.
      """),
    order(
      "wipe", by: API.wipeContainer, "Have a container deleted on its device, with all its keys",
      """
      The container is locked at once. Its device deletes it as soon as it is reached, and sends a signed receipt; then it is revoked. \
      'container revoke' ends it at once, and leaves the keys on the device.
      """),
    Command(
      "account", "Show a container's policies, locks, last report and orders with their receipts",
      description: "The device's last report and its receipts are printed with --json, signed as they came.",
      arguments: [id]
    ) { arguments in
      let account = try await OperatorClient.send(
        API.showAccount, arguments, at: [.id: arguments.string("id")])
      guard !arguments.isSet("json") else {
        arguments.output.print(account)
        return .success
      }
      arguments.output.print(fields: try fields(of: account))
      let orders = try objects("orders", in: account)
      guard !orders.isEmpty else { return .success }
      var table = TextTable(["ORDER", "ACTION", "ORDERED", "DONE", "REASON"])
      for order in orders {
        table.append([
          try order.string("id"), try order.string("action"), utc(try order.integer("created")),
          try order.optionalInteger("received").map { utc($0) } ?? "not yet", try order.string("reason"),
        ])
      }
      arguments.output.print(table)
      return .success
    },
    Command(
      "policies", "Show a container's account policies, or attach others in their place",
      description: """
        The device hears of new ones by its live channel, or when it next asks for its transactions. With --of-profile those of the \
        profile with which the container was made hold again.
        """,
      options: [.flag("of-profile", "Take away what was attached")],
      arguments: [
        id,
        Argument(
          "policies", "New policies as JSON, such as {\"deviceTampering\":{\"score\":0.8}}", arity: .optional),
      ],
      examples: [
        .init(
          "signet-server container policies ID '{\"screenLock\":{},\"inactivity\":{\"days\":30}}'",
          "Ask for a passcode, and for a use every month")
      ], handler: attach),
  ]

  /// Policies that the command line has.
  ///
  /// - Parameter text: As JSON.
  /// - Returns: The policies.
  /// - Throws: `CommandFailure`.
  static func policies(_ text: String) throws(CommandFailure) -> AccountPolicySet {
    do throws(AccountPolicyFailure) {
      let policies = try AccountPolicySet(parsing: Array(text.utf8))
      try AccountPolicyRegistry().check(policies)
      return policies
    } catch { throw CommandFailure(.dataError, TerminalText(error.description)) }
  }

  private static func attach(_ arguments: Arguments) async throws -> ExitCode {
    let (id, text) = (arguments.string("id"), arguments.optionalString("policies"))
    guard text == nil || !arguments.isSet("of-profile") else {
      throw UsageFailure.refused("--of-profile goes without policies: it takes away those that were attached")
    }
    let policies = try text.map { try self.policies($0) }
    let client = try OperatorClient(arguments, for: API.attachPolicies)
    let answer: JSONObject
    if let policies {
      answer = try await client.send(
        API.attachPolicies, at: [.id: id], body: ["policies": .object(policies.json)])
    } else if arguments.isSet("of-profile") {
      answer = try await client.send(API.detachPolicies, at: [.id: id])
    } else {
      let account = try await client.send(API.showAccount, at: [.id: id])
      answer = ["id": .string(id), "policies": .object(try account.object("policies"))]
    }
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else if let policies {
      let count = policies.names.count
      arguments.output.print(
        "\(id) has \(count) \(count == 1 ? "policy" : "policies")")
    } else if arguments.isSet("of-profile") {
      arguments.output.print("\(id) has the policies of its profile")
    } else {
      arguments.output.print("\(shown(try answer.object("policies")))")
    }
    if let policies {
      let unknown = try answer.strings("unknown").map { UnevaluatedPolicy($0) }
      for policy in unknown + UnevaluatedPolicy.parameters(of: policies) {
        arguments.errorOutput.print("signet-server: \(policy)")
      }
    }
    return .success
  }

  private static func shown(_ policies: JSONObject) -> String {
    policies.isEmpty ? "none" : String(decoding: policies.bytes, as: UTF8.self)
  }

  private static func order(
    _ action: String, by endpoint: some DescribedEndpoint, _ summary: String, _ description: String
  ) -> Command {
    Command(
      action, summary, description: description, options: [reason], arguments: [id]
    ) { arguments in
      let answer = try await OperatorClient.send(
        endpoint, arguments, at: [.id: arguments.string("id")],
        body: ["reason": .string(arguments.optionalString("reason") ?? "")])
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        let (id, order) = (try answer.string("id"), try answer.string("order"))
        arguments.output.print("ordered: \(action) of \(id) (order \(order))")
      }
      return .success
    }
  }

  private static func fields(of account: JSONObject) throws -> [(String, String)] {
    var fields = [
      ("Container", try account.string("container")), ("Standing", try account.string("standing")),
      ("Policies", shown(try account.object("policies"))),
    ]
    if let reason = try account.optionalString("reason") { fields.insert(("Because", reason), at: 2) }
    if let reported = try account.optionalInteger("reported") { fields.append(("Reported", utc(reported))) }
    if try account.bool("reportWanted") { fields.append(("Waits for", "a report of the device")) }
    return fields
  }
}
