import SignetJSON
import SignetPolicy
import SignetTerminal

/// `signet-server container lock|unlock|wipe|account|policies`.
enum ContainerLockCommands {
  private static let id = Argument("id", "The container's id")
  private static let reason = Option.value(
    "reason", "Why, for the device's user and the audit log; at most 200 characters", named: "text")

  static let all: [Command] = [
    order(
      "lock", "Lock a container, here at once and on its device as soon as that is reached",
      """
      Codes and approvals of the container are not taken from now on; its user can still deny. The device hears of it by its live \
      channel, or when it next asks for its transactions, locks the container too, and sends a signed receipt ('container account').
      """),
    order(
      "unlock", "End the lock of a container that an operator has set",
      """
      Locks that the device has set by itself stay: those of its policies, and of its user. Where the server has locked the container \
      for what its device has reported, the next report ends that.
      """),
    order(
      "wipe", "Have a container deleted on its device, with all its keys",
      """
      The container is locked at once. Its device deletes it as soon as it is reached, and sends a signed receipt; then it is revoked. \
      'container revoke' ends it at once, and leaves the keys on the device.
      """),
    Command(
      "account", "Show a container's policies, locks, last report and orders with their receipts",
      arguments: [id]
    ) { arguments in
      let account = try await OperatorClient(arguments, as: .admin)
        .get("admin", "containers", arguments.string("id"), "account")
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
      arguments.output.write(table.text)
      return .success
    },
    Command(
      "policies", "Attach account policies to a container, in the place of those that it has",
      description: """
        The device hears of them by its live channel, or when it next asks for its transactions. Without policies, those of the profile \
        with which the container was made hold again.
        """,
      arguments: [
        id,
        Argument(
          "policies", "The policies as JSON, such as {\"deviceTampering\":{\"score\":0.8}}", arity: .optional),
      ],
      examples: [
        .init(
          "signet-server container policies ID '{\"screenLock\":{},\"inactivity\":{\"days\":30}}'",
          "Ask for a passcode, and for a use every month")
      ]
    ) { arguments in
      let client = try OperatorClient(arguments, as: .admin)
      let id = arguments.string("id")
      guard let text = arguments.optionalString("policies") else {
        let answer = try await client.delete("admin", "containers", id, "policies")
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("\(TerminalText.sanitised(id)) has the policies of its profile")
        }
        return .success
      }
      let policies: AccountPolicySet
      do throws(AccountPolicyFailure) { policies = try AccountPolicySet(parsing: Array(text.utf8)) } catch {
        throw CommandFailure(.dataError, error.description)
      }
      let answer = try await client.put(
        "admin", "containers", id, "policies", body: ["policies": .object(policies.json)])
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        arguments.output.print("\(TerminalText.sanitised(id)) has \(policies.names.count) policies")
      }
      for name in try answer.strings("unknown") {
        arguments.errorOutput.print(
          "signet-server: this server does not evaluate \(TerminalText.sanitised(name)); it relies on the device"
        )
      }
      return .success
    },
  ]

  private static func order(
    _ action: String, _ summary: String, _ description: String
  ) -> Command {
    Command(
      action, summary, description: description, options: [reason], arguments: [id]
    ) { arguments in
      let answer = try await OperatorClient(arguments, as: .admin)
        .post(
          "admin", "containers", arguments.string("id"), action,
          body: ["reason": .string(arguments.optionalString("reason") ?? "")])
      if arguments.isSet("json") {
        arguments.output.print(answer)
      } else {
        let (id, order) = (try answer.string("id"), try answer.string("order"))
        arguments.output.print(TerminalText.sanitised("ordered: \(action) of \(id) (order \(order))"))
      }
      return .success
    }
  }

  private static func fields(of account: JSONObject) throws -> [(String, String)] {
    let policies = try account.object("policies")
    var fields = [
      ("Container", try account.string("container")), ("Standing", try account.string("standing")),
      ("Policies", policies.isEmpty ? "none" : String(decoding: policies.bytes, as: UTF8.self)),
      ("To be heard", try account.bool("reportWanted") ? "yes" : "no"),
    ]
    if let reason = try account.optionalString("reason") { fields.insert(("Because", reason), at: 2) }
    if let reported = try account.optionalInteger("reported") { fields.append(("Reported", utc(reported))) }
    return fields
  }
}
