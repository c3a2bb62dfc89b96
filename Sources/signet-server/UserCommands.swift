import SignetJSON
import SignetServer
import SignetStorage
import SignetTerminal

/// `signet-server user …`.
enum UserCommands {
  static let user = Argument("user", "The user id: 1 to 128 characters")

  static let group = Command(
    "user", "Manage users", options: OperatorOptions.connection,
    commands: [
      Command(
        "add", "Add a user", options: [.value("name", "The name that operators see", named: "text")],
        arguments: [user], synonyms: ["create", "new"]
      ) { arguments in
        let new = try NewUser(user: arguments.value("user"), displayName: arguments.optionalString("name"))
        return try await arguments.ask(API.addUser, new) { arguments.output.print("added \($0.user)") }
      },
      Command("list", "List the users") { arguments in
        try await arguments.ask(API.listUsers) {
          arguments.output.print(
            ["USER", "NAME", "ADDED", "STATE"],
            $0.users.map { [$0.user, $0.displayName ?? "", utc($0.created), $0.state.rawValue] })
        }
      },
      Command(
        "show", "Show a user with authenticators, open requests and latest events",
        description: """
          The last ten events are searched for in the newest 100,000 entries of each chain of the audit log. \
          If the search stops there, a line says after which time the list is complete.

          PROVES is the most that an authenticator can prove, in the terms of named requirements; hardware \
          is claimed by the device, or attested by certificates. LAST USED is its last code that was \
          accepted, or its last answer: of a device its last report too, of an app within 30 days, and of a \
          UAF key if it counts its signatures.
          """,
        arguments: [user]
      ) { arguments in
        try await arguments.ask(API.showUser) { try show($0, arguments) }
      },
      Command(
        "rename", "Change or remove a user's display name",
        description: """
          The name is for operators; the user id stays the same. Without a name the display name is removed. \
          The audit log does not contain it.
          """,
        arguments: [
          user, Argument("name", "The name that operators see: at most 128 characters", arity: .optional),
        ]
      ) { arguments in
        try await arguments.ask(
          API.renameUser, NewUserName(displayName: arguments.optionalString("name"))
        ) {
          arguments.output.print(
            $0.displayName == nil ? "\($0.user) has no display name now" : "renamed \($0.user)")
        }
      },
      Command(
        "suspend", "Suspend a user: from now on nothing from the user is accepted",
        description: """
          Requests, invites, UAF operations and push messages that are pending end at once, in every process \
          of the server. What is bound to the account stays bound; 'user resume' ends the suspension.
          """,
        options: [.value("reason", "The reason, for the audit log and for 'user show'", named: "text")],
        arguments: [user], synonyms: ["disable", "deactivate"]
      ) { arguments in
        try await arguments.ask(
          API.suspendUser, Suspension(reason: arguments.optionalString("reason"))
        ) {
          arguments.output.print("suspended \($0.user)")
        }
      },
      Command(
        "resume", "Resume a suspended user",
        description: """
          Listening devices of the user then show requests again. If somebody else may have a device, revoke \
          its container before.
          """,
        arguments: [user],
        synonyms: ["unsuspend", "activate", "enable"]
      ) { arguments in
        try await arguments.ask(API.resumeUser) { arguments.output.print("resumed \($0.user)") }
      },
      Command(
        "delete", "Delete a user and everything that is bound to the account",
        description: """
          Containers are revoked; one-time passwords, UAF keys, authenticator apps and requests are removed. \
          Imported tokens go back to the stock. The user id can then be given to somebody else: the audit \
          log names the user by a subject that is never reused ('user show' prints it). The public keys of \
          containers stay, each of which belongs to one container for good.
          """,
        arguments: [user], synonyms: ["remove"]
      ) { arguments in
        // The remaining records of the user carry the subject.
        try await arguments.ask(API.deleteUser) { _ in
          arguments.output.print("deleted \(arguments.string("user"))")
        }
      },
      Command(
        "unlock",
        "Unlock a user: reset failed one-time passwords and signatures, and end waiting times",
        description: """
          A user who reported a request, or accepted none of several in a row, is asked again only after a waiting time: \
          the server refuses new requests with 429, transaction.tooMany. This command ends that waiting time, and those of \
          addresses that sent wrong answers. It does not end pending requests.

          After 100 wrong one-time passwords in a row a credential is locked until this is done, or two codes in a row are right \
          ('otp resync'). The number is "codeAttempts" of "limits" in server.json.
          """,
        arguments: [user]
      ) { arguments in
        try await arguments.ask(API.unlockUser) { arguments.output.print("unlocked \($0.user)") }
      },
      Command(
        "code", "Create a user code, which OpenID Connect clients must send to ask the user",
        description: """
          Hand the 8 digits to the user, who types them where a client asks for the user code. They are shown once; an earlier code \
          ends. With --remove any client may ask again.
          """,
        options: [.flag("remove", "Remove the code")], arguments: [user]
      ) { arguments in
        if arguments.isSet("remove") {
          return try await arguments.ask(API.removeUserCode) {
            arguments.output.print("no code for \($0.user)")
          }
        }
        return try await arguments.ask(API.setUserCode) { arguments.output.print("\(copied: $0.code)") }
      },
    ])

  /// `user show`: one screen.
  private static func show(_ user: UserDetails, _ arguments: Arguments) throws {
    var fields = [("User", arguments.string("user"))]
    if let name = user.displayName { fields.append(("Name", name)) }
    fields += [
      ("Subject", user.subject), ("State", user.state.rawValue), ("Since", utc(user.since)),
    ]
    if let reason = user.reason { fields.append(("Reason", reason)) }
    fields.append(("Added", utc(user.created)))
    arguments.output.print(fields: fields)
    arguments.output.print(
      ["KIND", "STATE", "NAME", "ADDED", "LAST USED", "ID", "PROVES", "REASON"],
      user.devices.flatMap { device in
        [
          [
            "device", device.compliance.rawValue, device.name, utc(device.created),
            device.lastSeen.map(utc) ?? "", device.id.text, "", device.reason ?? "",
          ]
        ] + authenticators(of: user, on: device.id)
      } + authenticators(of: user, on: nil))
    if !user.requests.isEmpty {
      arguments.output.print(
        ["REQUEST", "KIND", "BY", "ASKED", "ENDS", "CONTENT"],
        user.requests.map {
          [
            $0.id, $0.kind.rawValue, $0.requester ?? "", utc($0.created), utc($0.expires), $0.content ?? "",
          ]
        })
    }
    arguments.output.print(
      ["TIME", "BY", "EVENT", "REASON"],
      try user.events.map { event in
        let entry = try AuditCommands.entry(event)
        let reason = try event.optionalString(AuditEvent.Member.reason.rawValue)
        return [entry.time.map(utc) ?? "", entry.by ?? "", entry.event ?? "", reason ?? ""]
      })
    if let time = user.eventsAfter {
      arguments.output.print(
        "The list is complete after \(utc(time)); see 'signet-server audit list' for older events.")
    }
  }

  /// Returns the rows of the authenticators on a device, or of those on none.
  private static func authenticators(of user: UserDetails, on device: ID<DeviceRecord>?) -> [[String]] {
    user.authenticators.filter { $0.device == device }.map {
      [
        (device == nil ? "" : "  ") + $0.kind.rawValue, $0.state.rawValue, $0.name, utc($0.created),
        $0.lastUsed.map(utc) ?? "", $0.id, proof(of: $0), $0.reason ?? "",
      ]
    }
  }

  /// Returns the authenticator's best proof, in the order of requirements.
  private static func proof(of authenticator: AuthenticatorDetails) -> String {
    guard let proves = authenticator.proves else { return "" }
    var properties = [proves.factors == 1 ? "1 factor" : "\(proves.factors) factors"]
    if proves.userVerification { properties.append("user verified") }
    if proves.phishingResistance { properties.append("phishing resistant") }
    if proves.contentSigned { properties.append("content signed") }
    switch authenticator.keyProtection {
    case .hardwareClaimed: properties.append("hardware claimed")
    case .hardwareAttested: properties.append("hardware attested")
    case .software, nil: break
    }
    return properties.joined(separator: ", ")
  }
}
