import SignetJSON
import SignetTerminal

/// `signet-server user …`.
enum UserCommands {
  static let user = Argument("user", "The user id: 1 to 128 characters")

  static let group = Command(
    "user", "Manage users", options: OperatorOptions.connection,
    commands: [
      Command("add", "Add a user", arguments: [user]) { arguments in
        let answer = try await OperatorClient(arguments, as: .admin)
          .post("admin", "users", body: ["user": .string(arguments.string("user"))])
        try report(answer, "added", arguments)
        return .success
      },
      Command("list", "List the users") { arguments in
        let answer = try await OperatorClient(arguments, as: .admin).get("admin", "users")
        guard !arguments.isSet("json") else {
          arguments.output.print(answer)
          return .success
        }
        var table = TextTable(["USER", "ADDED"])
        for user in try objects("users", in: answer) {
          table.append([try user.string("user"), utc(try user.integer("created"))])
        }
        arguments.output.print(table)
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
        let answer = try await OperatorClient(arguments, as: .admin)
          .post("admin", "users", arguments.string("user"), "unlock")
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
        let client = try OperatorClient(arguments, as: .admin)
        let user = arguments.string("user")
        if arguments.isSet("remove") {
          try report(await client.delete("admin", "users", user, "code"), "no code for", arguments)
          return .success
        }
        let answer = try await client.post("admin", "users", user, "code")
        if arguments.isSet("json") {
          arguments.output.print(answer)
        } else {
          arguments.output.print("\(token: try answer.string("code"))")
        }
        return .success
      },
    ])

  private static func report(_ answer: JSONObject, _ done: String, _ arguments: Arguments) throws {
    if arguments.isSet("json") {
      arguments.output.print(answer)
    } else {
      arguments.output.print("\(ours: done) \(try answer.string("user"))")
    }
  }
}
