import SignetJSON
import SignetPolicy
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server container lock|unlock|wipe|account|policies`.
enum ContainerLockCommands {
  private static let id = Argument("id", "The container's id")
  private static let reason = Option.value(
    "reason", "The reason, for the device's user and the audit log; at most 200 characters", named: "text")

  static let all: [Command] = [
    order(
      "lock", by: API.lockContainer,
      "Lock a container, at the server at once and on its device as soon as that is reached",
      """
      Codes and approvals of the container are refused from now on; its user can still deny. The device gets \
      the order by its live channel, or when it next asks for its transactions, locks the container too, and \
      sends a signed receipt ('container account').
      """),
    order(
      "unlock", by: API.unlockContainer, "End the lock of a container that an operator has set",
      """
      Locks that the device has set by itself stay: those of its policies, and of its user. If the server \
      has locked the container because of a report of its device, the next report ends that lock.
      """),
    order(
      "wipe", by: API.wipeContainer, "Order a device to delete a container with all its keys",
      """
      The container is locked at once. Its device deletes it as soon as it is reached, and sends a signed \
      receipt; then it is revoked. 'container revoke' revokes it at once, and leaves the keys on the device.
      """),
    Command(
      "account", "Show a container's policies, locks, last report and orders with their receipts",
      description: "The device's last report and its receipts are printed with --json, signed as they came.",
      arguments: [id]
    ) { arguments in
      try await arguments.ask(API.showAccount) { account in
        arguments.output.print(fields: fields(of: account))
        guard !account.commands.isEmpty else { return }
        arguments.output.print(
          ["ORDER", "ACTION", "ORDERED", "DONE", "REASON"],
          account.commands.map {
            [$0.id.text, $0.action.rawValue, utc($0.created), $0.received.map(utc) ?? "not yet", $0.reason]
          })
      }
    },
    Command(
      "policies", "Show a container's account policies, or attach others in their place",
      description: """
        The device gets new policies by its live channel, or when it next asks for its transactions. With \
        --of-profile the policies of the container's profile apply again.
        """,
      options: [.flag("of-profile", "Remove the attached policies")],
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

  /// Parses policies from the command line.
  ///
  /// - Parameter text: The policies as JSON.
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
    if let policies {
      let answer = try await client.send(API.attachPolicies, AttachedPolicies(policies: policies.json))
      let count = policies.names.count
      arguments.show(answer) { _ in
        arguments.output.print("\(id) has \(count) \(count == 1 ? "policy" : "policies")")
      }
      let unknown = answer.message.unknown.map { UnevaluatedPolicy($0) }
      for policy in unknown + UnevaluatedPolicy.parameters(of: policies) {
        arguments.errorOutput.print("signet-server: \(policy)")
      }
    } else if arguments.isSet("of-profile") {
      arguments.show(try await client.send(API.detachPolicies)) { _ in
        arguments.output.print("\(id) has the policies of its profile")
      }
    } else {
      var answer = try await client.send(API.showAccount)
      answer.json = ["id": .string(id), "policies": .object(answer.message.policies)]
      arguments.show(answer) { arguments.output.print("\(shown($0.policies))") }
    }
    return .success
  }

  private static func shown(_ policies: JSONObject) -> String {
    policies.isEmpty ? "none" : String(decoding: policies.bytes, as: UTF8.self)
  }

  private static func order(
    _ action: String, by endpoint: Endpoint<APIKeyRecord, NewDeviceCommand, MadeDeviceCommand>,
    _ summary: String, _ description: String
  ) -> Command {
    Command(
      action, summary, description: description, options: [reason], arguments: [id]
    ) { arguments in
      try await arguments.ask(endpoint, NewDeviceCommand(reason: arguments.optionalString("reason"))) {
        arguments.output.print("ordered: \(action) of \($0.id) (order \($0.command))")
      }
    }
  }

  private static func fields(of account: AccountDescription) -> [(String, String)] {
    var fields = [("Container", account.container.text), ("Standing", account.compliance.rawValue)]
    if let reason = account.reason { fields.append(("Because", reason)) }
    fields.append(("Policies", shown(account.policies)))
    if let reported = account.reported { fields.append(("Reported", utc(reported))) }
    if account.reportRequested { fields.append(("Waits for", "a report of the device")) }
    return fields
  }
}
