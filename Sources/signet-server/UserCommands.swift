import SignetJSON
import SignetServer
import SignetTerminal

/// `signet-server user …`.
enum UserCommands {
  static let user = Argument("user", "The user id: 1 to 128 characters")

  static let group = Command(
    "user", "Manage users", options: OperatorOptions.connection,
    commands: [
      Command("add", "Add a user", arguments: [user], synonyms: ["create", "new"]) { arguments in
        let answer = try await OperatorClient.send(
          API.addUser, arguments, body: ["user": .string(arguments.string("user"))])
        try report(answer, "added", arguments)
        return .success
      },
      Command("list", "List the users") { arguments in
        let answer = try await OperatorClient.send(API.listUsers, arguments)
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["USER", "ADDED", "STATE"])
        for user in try objects("users", in: answer) {
          table.append([
            try user.string("user"), utc(try user.integer("created")), try user.string("state"),
          ])
        }
        arguments.output.print(table)
        return .success
      },
      Command(
        "show", "Show a user with all that is bound to the account, what is asked, and what happened last",
        description: """
          The last ten events are searched for in the newest 100,000 entries of each chain of the audit log. If the search stops there, \
          a line says after which time the list is complete.
          """,
        arguments: [user]
      ) { try await show($0) },
      Command(
        "suspend", "Suspend a user: from now on nothing of the user is accepted",
        description: """
          Requests, invites, UAF operations and push messages that are under way end at once, at every process of the server. What \
          is bound to the account stays bound; 'user resume' lets the user go on.
          """,
        options: [.value("reason", "Why, for the audit log and for 'user show'", named: "text")],
        arguments: [user], synonyms: ["disable", "deactivate"]
      ) { arguments in
        var body = JSONObject()
        if let reason = arguments.optionalString("reason") { body["reason"] = .string(reason) }
        let answer = try await OperatorClient.send(
          API.suspendUser, arguments, at: [.user: arguments.string("user")], body: body)
        try report(answer, "suspended", arguments)
        return .success
      },
      Command(
        "resume", "Let a suspended user go on",
        description: """
          What listens on a device of the user's shows requests again then. Where a device may be in others' hands, revoke its container \
          before.
          """,
        arguments: [user],
        synonyms: ["unsuspend", "activate", "enable"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.resumeUser, arguments, at: [.user: arguments.string("user")])
        try report(answer, "resumed", arguments)
        return .success
      },
      Command(
        "delete", "Delete a user and all that is bound to the account",
        description: """
          Containers are revoked; one-time passwords, UAF keys, authenticator apps and requests are removed. Imported tokens go back \
          to the stock. Somebody else may have the user id then: the audit log knows the user by a name that nobody else ever has \
          ('user show' has it). The public keys of containers stay, each of which belongs to one container for good.
          """,
        arguments: [user], synonyms: ["remove"]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.deleteUser, arguments, at: [.user: arguments.string("user")])
        // What is left of the user is called by the subject.
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("deleted \(arguments.string("user"))")
        }
        return .success
      },
      Command(
        "unlock", "Forget a user's failed one-time passwords and signatures, and what addresses have to wait",
        description: """
          After 100 wrong one-time passwords in a row a credential is locked until this is done, or two codes in a row are right \
          ('otp resync'). The number is "codeAttempts" of "limits" in server.json.
          """,
        arguments: [user]
      ) { arguments in
        let answer = try await OperatorClient.send(
          API.unlockUser, arguments, at: [.user: arguments.string("user")])
        try report(answer, "unlocked", arguments)
        return .success
      },
      Command(
        "code", "Give a user a code, without which no client of OpenID Connect may ask",
        description: """
          Hand the 8 digits to the user, who types them where a client asks for the user code. They are shown once; an earlier code \
          ends. With --remove any client may ask again.
          """,
        options: [.flag("remove", "Take the code away")], arguments: [user]
      ) { arguments in
        let client = try OperatorClient(arguments, for: API.removeUserCode)
        let user = arguments.string("user")
        if arguments.isSet("remove") {
          try report(await client.send(API.removeUserCode, at: [.user: user]), "no code for", arguments)
          return .success
        }
        let answer = try await client.send(API.setUserCode, at: [.user: user])
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("\(copied: try answer.string("code"))")
        }
        return .success
      },
    ])

  /// `user show`: one screen.
  private static func show(_ arguments: Arguments) async throws -> ExitCode {
    let id = arguments.string("user")
    let all = try await OperatorClient.send(API.showUser, arguments, at: [.user: id])
    if arguments.isSet("json") {
      arguments.output.print(all)
      return .success
    }
    var fields = [("User", id), ("Subject", try all.string("subject")), ("State", try all.string("state"))]
    fields.append(("Since", utc(try all.integer("since"))))
    if let reason = try all.optionalString("reason") { fields.append(("Reason", reason)) }
    fields.append(("Added", utc(try all.integer("created"))))
    arguments.output.print(fields: fields)
    arguments.output.print(try authenticators(in: all))
    let requests = try objects("requests", in: all)
    if !requests.isEmpty {
      var table = TextTable(["REQUEST", "KIND", "BY", "ASKED", "ENDS", "CONTENT"])
      for one in requests {
        table.append([
          try one.string("id"), try one.string("kind"), try one.optionalString("requester") ?? "",
          utc(try one.integer("created")), utc(try one.integer("expires")),
          try one.optionalString("content") ?? "",
        ])
      }
      arguments.output.print(table)
    }
    var table = TextTable(["TIME", "BY", "EVENT", "REASON"])
    for one in try objects("events", in: all) {
      table.append([
        try one.optionalInteger("time").map { utc($0) } ?? "", try one.optionalString("by") ?? "",
        try one.optionalString("event") ?? "", try one.optionalString("reason") ?? "",
      ])
    }
    arguments.output.print(table)
    if let time = try all.optionalInteger("eventsAfter") {
      arguments.output.print(
        "The list is complete after \(utc(time)); see 'signet-server audit list' for older events.")
    }
    return .success
  }

  /// Devices, each with the authenticators on it, then those that are on none.
  private static func authenticators(in all: JSONObject) throws -> TextTable {
    var table = TextTable(["KIND", "STATE", "NAME", "ADDED", "ID", "REASON"])
    let found = try objects("authenticators", in: all)
    func append(on device: String?) throws {
      for one in found where try one.optionalString("device") == device {
        table.append([
          try (device == nil ? "" : "  ") + one.string("kind"), try one.string("state"),
          try one.string("name"), utc(try one.integer("created")), try one.string("id"),
          try one.optionalString("reason") ?? "",
        ])
      }
    }
    for device in try objects("devices", in: all) {
      let id = try device.string("id")
      table.append([
        "device", try device.string("standing"), try device.string("name"),
        utc(try device.integer("created")), id, try device.optionalString("reason") ?? "",
      ])
      try append(on: id)
    }
    try append(on: nil)
    return table
  }

  private static func report(_ answer: JSONObject, _ done: String, _ arguments: Arguments) throws {
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print("\(ours: done) \(try answer.string("user"))")
    }
  }
}
