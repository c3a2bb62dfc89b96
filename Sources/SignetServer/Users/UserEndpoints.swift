import SignetJSON
import SignetProtocol
package import SignetStorage

package struct NewUser: Message {
  package let user: UserID, displayName: String?

  package init(user: UserID, displayName: String? = nil) {
    (self.user, self.displayName) = (user, displayName)
  }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("displayName", \Self.displayName, .text(1...128), "The name that operators see: one line.")
  }
}

/// A user's new display name.
package struct NewUserName: Message {
  package let displayName: String?

  package init(displayName: String?) { self.displayName = displayName }

  package static let schema = MessageSchema(Self.init) {
    Member("displayName", \Self.displayName, .text(1...128), "One line; absent for no name.")
  }
}

extension UserRecord.State: Shaped {}

/// A user in operators' lists.
package struct UserDescription: Message {
  package let user: String, displayName: String?, subject: String, created: Int64
  package let state: UserRecord.State, since: Int64, reason: String?

  package static let schema = MessageSchema(Self.init, named: "User") {
    Member("user", \Self.user, "The id; of a deleted user the subject.")
    Member("displayName", \Self.displayName, "The name that operators see.")
    Member(
      "subject", \Self.subject,
      "The user's name in the audit log and in tokens (`sub`), which no other user ever gets.")
    Member("created", \Self.created, .time)
    Member(
      "state", \Self.state,
      "`altered` if the row was not written by this server: nothing from the user is accepted until an operator suspends and resumes the user."
    )
    Member("since", \Self.since, .time, "When the user came into the state.")
    Member("reason", \Self.reason, "The operator's reason.")
  }
}

extension UserDescription {
  init(_ record: UserRecord) {
    self.init(
      user: record.id.text, displayName: record.displayName, subject: record.subject,
      created: record.created, state: record.state, since: record.stateSince,
      reason: record.stateReason.isEmpty ? nil : record.stateReason)
  }
}

package struct Suspension: Message {
  package let reason: String?

  package init(reason: String?) { self.reason = reason }

  package static let schema = MessageSchema(Self.init) {
    Member("reason", \Self.reason, "At most 1,000 plain characters.")
  }
}

package struct UserList: Message {
  package let users: [UserDescription]

  package static let schema = MessageSchema(Self.init) { Member("users", \Self.users) }
}

/// The user and the lifetime of a new invite.
package struct NewActivation: Message {
  package let user: UserID, lifetime: Int64?

  package init(user: UserID, lifetime: Int64?) { (self.user, self.lifetime) = (user, lifetime) }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member(
      "lifetime", \Self.lifetime, .integer(60...2_592_000),
      "Seconds; a day by default, if the operator sets no other value.")
  }
}

package struct MadeActivation: Message {
  package let code: String, invite: String, expires: Int64

  package static let schema = MessageSchema(Self.init) {
    Member("code", \Self.code, "The text of a QR code.")
    Member("invite", \Self.invite, "The code to type.")
    Member("expires", \Self.expires, .time)
  }
}

/// A new user code, which the user types to allow a request.
package struct MadeUserCode: Message {
  package let user: String, code: String

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member("code", \Self.code)
  }
}

extension API {
  package static let addUser = Endpoint(
    .post, "/admin/users", .manage, "addUser", "Add a user", in: .users, by: .admin,
    takes: .json(NewUser.self), answers: .created(NamedByUser.self, "The user."), or: [.conflict])
  package static let listUsers = Endpoint(
    .get, "/admin/users", .read, "listUsers", "List the users", in: .users, by: .admin,
    answers: .json(UserList.self, "In the order of their ids."))
  package static let showUser = Endpoint(
    .get, "/admin/users/{user}", .read, "showUser",
    "Get a user with authenticators, open requests and latest events", in: .users, by: .admin,
    answers: .json(UserDetails.self, "The user."), or: [.unknown])
  package static let renameUser = Endpoint(
    .put, "/admin/users/{user}/name", .manage, "renameUser", "Change or remove the display name of a user",
    in: .users, by: .admin, takes: .json(NewUserName.self),
    answers: .json(UserDescription.self, "The user."), or: [.unknown])
  package static let suspendUser = Endpoint(
    .post, "/admin/users/{user}/suspend", .manage, "suspendUser",
    "Suspend a user, and end everything that is pending", in: .users, by: .admin,
    takes: .json(Suspension.self), answers: .json(UserDescription.self, "The user, suspended."),
    or: [.unknown])
  package static let resumeUser = Endpoint(
    .post, "/admin/users/{user}/resume", .manage, "resumeUser", "Resume a suspended user",
    in: .users, by: .admin, answers: .json(UserDescription.self, "The user, active."), or: [.unknown])
  package static let deleteUser = Endpoint(
    .delete, "/admin/users/{user}", .manage, "deleteUser",
    "Delete a user and everything that is bound to the account", in: .users, by: .admin,
    answers: .json(UserDescription.self, "The subject of the deleted user."), or: [.unknown])
  package static let unlockUser = Endpoint(
    .post, "/admin/users/{user}/unlock", .manage, "unlockUser",
    "Unlock a user, and reset the failed attempts",
    in: .users, by: .admin, answers: .json(NamedByUser.self, "Done."), or: [.unknown])
  package static let invite = Endpoint(
    .post, "/admin/activations", .manage, "invite", "Create an activation code", in: .users, by: .admin,
    takes: .json(NewActivation.self, example: ["user": "alice"]),
    answers: .created(MadeActivation.self, "The code; an earlier one of the user is void."), or: [.unknown])
  package static let setUserCode = Endpoint(
    .post, "/admin/users/{user}/code", .manage, "setUserCode",
    "Create a user code, which OpenID Connect clients must send to ask the user", in: .users, by: .admin,
    answers: .created(MadeUserCode.self, "The code, which is shown only once."), or: [.unknown])
  package static let removeUserCode = Endpoint(
    .delete, "/admin/users/{user}/code", .manage, "removeUserCode", "Remove the user code of a user",
    in: .users, by: .admin, answers: .json(NamedByUser.self, "Done."), or: [.unknown])
}

/// The endpoints with which operators manage users (`docs/protocol.md` section 7).
struct UserEndpoints: Sendable {
  let users: UserService
  let codes: CodeService
  let activations: ActivationService
  let overview: UserOverview

  var routes: [Route] {
    [
      API.addUser.answered { [users] call in
        try await users.add(
          call.input.user, displayName: call.input.displayName, by: call.caller.actor)
        return NamedByUser(user: call.input.user.text)
      },
      API.listUsers.answered { [users] _ in
        UserList(users: try await users.all().map { UserDescription($0) })
      },
      API.showUser.answered { [overview] call in try await overview.details(of: call.user()) },
      API.renameUser.answered { [users] call in
        UserDescription(
          try await users.rename(call.user(), to: call.input.displayName, by: call.caller.actor))
      },
      API.suspendUser.answered { [users] call in
        UserDescription(
          try await users.suspend(call.user(), reason: call.input.reason ?? "", by: call.caller.actor))
      },
      API.resumeUser.answered { [users] call in
        UserDescription(try await users.resume(call.user(), by: call.caller.actor))
      },
      API.deleteUser.answered { [users] call in
        UserDescription(try await users.delete(call.user(), by: call.caller.actor))
      },
      API.unlockUser.answered { [codes] call in
        try await codes.unlock(call.user(), by: call.caller.actor)
        return NamedByUser(user: call[.user])
      },
      API.invite.answered { [activations] call in
        let made = try await activations.invite(
          call.input.user, lifetime: call.input.lifetime, by: call.caller.actor)
        return MadeActivation(
          code: made.code.text, invite: made.code.invite.typedForm, expires: made.expires)
      },
      API.setUserCode.answered { [users] call in
        MadeUserCode(user: call[.user], code: try await users.setCode(of: call.user(), by: call.caller.actor))
      },
      API.removeUserCode.answered { [users] call in
        try await users.removeCode(of: call.user(), by: call.caller.actor)
        return NamedByUser(user: call[.user])
      },
    ]
  }
}
