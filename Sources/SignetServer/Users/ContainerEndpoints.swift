import SignetCrypto
import SignetJSON
import SignetProtocol
package import SignetStorage

extension ContainerRecord.State: Shaped {}
extension ComplianceState: Shaped {}

/// A container in operators' lists.
package struct ContainerDescription: Message {
  package let id: ContainerID, user: String, device: String, name: String, platform: String, keystore: String
  package let keys: String?, simulated: Bool, state: ContainerRecord.State, created: Int64
  package let renewals: Int64, renewalWanted: Bool, renews: ContainerID?, succession: String?, ended: String?
  package let compliance: ComplianceState, keyProtection: KeyAssurance

  package static let schema = MessageSchema(Self.init, named: "Container") {
    Member("id", \Self.id)
    Member("user", \Self.user)
    Member("device", \Self.device)
    Member("name", \Self.name)
    Member("platform", \Self.platform)
    Member("keystore", \Self.keystore)
    Member("keys", \Self.keys, "Where the signing key was made and signs.")
    Member("simulated", \Self.simulated)
    Member(
      "state", \Self.state,
      "`altered` if its row was not written by this server: the container can be revoked.")
    Member("created", \Self.created, .time)
    Member("renewals", \Self.renewals, .integer(0...).ofRow)
    Member("renewalWanted", \Self.renewalWanted)
    Member("renews", \Self.renews, "The container that it replaces.")
    Member("succession", \Self.succession, "A JWS.")
    Member("ended", \Self.ended, "How the device ended it.")
    Member("standing", \Self.compliance)
    Member(
      "keyProtection", \Self.keyProtection,
      "Where the signing key is stored; for a container, hardware is claimed, not attested."
    )
  }
}

extension ContainerDescription {
  init(_ record: ContainerRecord) {
    self.init(
      id: record.id, user: record.user.text, device: Base64URL.encode(record.device), name: record.name,
      platform: record.platform, keystore: record.keystore, keys: record.keyOrigin,
      simulated: record.isSimulated, state: record.state, created: record.created,
      renewals: Int64(record.renewals), renewalWanted: record.isRenewalRequested, renews: record.renews,
      succession: record.succession, ended: record.ended, compliance: record.compliance,
      keyProtection: AuthenticationEvidence(of: record, isSigned: true).keyProtection)
  }
}

package struct ContainerList: Message {
  package let containers: [ContainerDescription]

  package static let schema = MessageSchema(Self.init) { Member("containers", \Self.containers) }
}

package struct RevokedContainer: Message {
  package let id: ContainerID, state: String, user: String, name: String

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("state", \Self.state, .oneOf(ContainerRecord.State.revoked.rawValue))
    Member("user", \Self.user)
    Member("name", \Self.name)
  }
}

/// A container whose device was asked to renew it.
package struct ContainerToRenew: Message {
  package let id: ContainerID, renewalWanted: Bool

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("renewalWanted", \Self.renewalWanted)
  }
}

extension API {
  package static let listContainers = Endpoint(
    .get, "/admin/users/{user}/containers", .read, "listContainers", "List the containers of a user",
    in: .users, by: .admin, answers: .json(ContainerList.self, "Oldest first."), or: [.unknown])
  package static let showContainer = Endpoint(
    .get, "/admin/containers/{id}", .read, "showContainer", "A container", in: .users, by: .admin,
    answers: .json(ContainerDescription.self, "The container."), or: [.unknown])
  package static let revokeContainer = Endpoint(
    .delete, "/admin/containers/{id}", .manage, "revokeContainer", "Revoke a container permanently",
    in: .users, by: .admin, answers: .json(RevokedContainer.self, "The container is revoked."), or: [.unknown]
  )
  package static let askForRenewal = Endpoint(
    .post, "/admin/containers/{id}/renew", .manage, "askForRenewal",
    "Ask a device to renew its container", in: .users, by: .admin,
    answers: .json(ContainerToRenew.self, "The device will be asked."), or: [.unknown, .conflict])
}

/// The endpoints with which operators manage containers (`docs/protocol.md` section 7).
struct ContainerEndpoints: Sendable {
  let users: UserService
  let renewals: RenewalService

  var routes: [Route] {
    [
      API.listContainers.answered { [users] call in
        ContainerList(
          containers: try await users.containers(of: call.user()).map { ContainerDescription($0) })
      },
      API.showContainer.answered { [users] call in
        ContainerDescription(try await users.container(call.id()))
      },
      API.revokeContainer.answered { [users] call in
        let container = try await users.revokeContainer(call.id(), by: call.caller.actor)
        return RevokedContainer(
          id: container.id, state: ContainerRecord.State.revoked.rawValue, user: container.user.text,
          name: container.name)
      },
      API.askForRenewal.answered { [renewals] call in
        let id: ContainerID = call.id()
        try await renewals.ask(id, by: call.caller.actor)
        return ContainerToRenew(id: id, renewalWanted: true)
      },
    ]
  }
}
