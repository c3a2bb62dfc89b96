import SignetJSON
package import SignetStorage
package import SignetWire

/// A user to be added.
package struct NewUser: Message {
  package let user: UserID

  package static let schema = MessageSchema(Self.init) { Member("user", \Self.user) }
}

/// All users.
package struct UserList: Message {
  package struct User: Message {
    package let user: String, created: Int64

    package static let schema = MessageSchema(Self.init) {
      Member("user", \Self.user)
      Member("created", \Self.created, .time)
    }
  }
  package let users: [User]

  package static let schema = MessageSchema(Self.init) { Member("users", \Self.users) }
}

/// Who is to be invited.
package struct NewActivation: Message {
  package let user: UserID, lifetime: Int64?

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user)
    Member(
      "lifetime", \Self.lifetime, .integer(60...2_592_000),
      "Seconds; a day where it is left out and the operator sets nothing else.")
  }
}

/// An activation code.
package struct MadeActivation: Message {
  package let code: String, invite: String, expires: Int64

  package static let schema = MessageSchema(Self.init) {
    Member("code", \Self.code, "What a QR code shows.")
    Member("invite", \Self.invite, "What is typed.")
    Member("expires", \Self.expires, .time)
  }
}

/// The code that a user types before being asked.
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
    takes: .json(NewUser.self), answers: .created(NamedByUser.self, "It is added."), or: [.conflict])
  package static let listUsers = Endpoint(
    .get, "/admin/users", .read, "listUsers", "All users", in: .users, by: .admin,
    answers: .json(UserList.self, "By id."))
  package static let unlockUser = Endpoint(
    .post, "/admin/users/{user}/unlock", .manage, "unlockUser", "Forget what a user got wrong",
    in: .users, by: .admin, answers: .json(NamedByUser.self, "Done."), or: [.unknown])
  package static let invite = Endpoint(
    .post, "/admin/activations", .manage, "invite", "Make an activation code", in: .users, by: .admin,
    takes: .json(NewActivation.self, example: ["user": "alice"]),
    answers: .created(MadeActivation.self, "An earlier one of the user is void."), or: [.unknown])
  package static let setUserCode = Endpoint(
    .post, "/admin/users/{user}/code", .manage, "setUserCode",
    "Make a code that a user types before being asked by OpenID Connect", in: .users, by: .admin,
    answers: .created(MadeUserCode.self, "It is shown this once."), or: [.unknown])
  package static let removeUserCode = Endpoint(
    .delete, "/admin/users/{user}/code", .manage, "removeUserCode", "Ask a user without a code",
    in: .users, by: .admin, answers: .json(NamedByUser.self, "Done."), or: [.unknown])
}

/// Users, as operators manage them (`docs/protocol.md` section 7).
struct UserEndpoints: Sendable {
  let users: UserService
  let codes: CodeService
  let activations: ActivationService

  var routes: [Route] {
    [
      API.addUser.answered { [users] call in
        try await users.add(call.input.user, by: call.caller.actor)
        return NamedByUser(user: call.input.user.text)
      },
      API.listUsers.answered { [users] _ in
        UserList(users: try await users.all().map { UserList.User(user: $0.id, created: $0.created) })
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
