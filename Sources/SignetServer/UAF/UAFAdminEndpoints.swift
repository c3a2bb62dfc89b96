import SignetCrypto
import SignetJSON
import SignetProtocol
package import SignetStorage
import SignetUAF

extension UAFCredentialRecord.State: Shaped {}
extension UAFCredentialRecord.ModelProof: Shaped {}
extension KeyAssurance: Shaped {}

/// The optional user of a list of keys or devices.
package struct UAFUserQuery: Message {
  package let user: UserID?

  package init(user: UserID?) { self.user = user }

  package static let schema = MessageSchema(Self.init) {
    Member("user", \Self.user, "Only keys or targets of this user; without it, at most 1,000.")
  }
}

extension Shape where Value == String {
  /// The name of an authenticator's model.
  static let aaid = Shape.text(pattern: "^[0-9A-Fa-f]{4}#[0-9A-Fa-f]{4}$")
}

package struct UAFCredentialList: Message {
  package struct Credential: Message {
    package let aaid: String, keyId: String, user: String, state: UAFCredentialRecord.State
    package let algorithm: String, signCounter: Int64, registrationCounter: Int64
    package let authenticatorVersion: Int64, created: Int64, deviceId: String?
    package let attestation: UAFCredentialRecord.ModelProof, keyProtection: KeyAssurance

    package static let schema = MessageSchema(Self.init, named: "UAFCredential") {
      Member("aaid", \Self.aaid, .aaid)
      Member("keyId", \Self.keyId)
      Member("user", \Self.user, .userName)
      Member("state", \Self.state)
      Member("algorithm", \Self.algorithm)
      Member("signCounter", \Self.signCounter)
      Member("registrationCounter", \Self.registrationCounter)
      Member("authenticatorVersion", \Self.authenticatorVersion)
      Member("created", \Self.created, .time)
      Member("deviceId", \Self.deviceId)
      Member("attestation", \Self.attestation, "Whether the model is attested, or the key's own claim.")
      Member("keyProtection", \Self.keyProtection)
    }
  }
  package let credentials: [Credential]

  package static let schema = MessageSchema(Self.init) { Member("credentials", \Self.credentials) }
}

/// A key of a UAF authenticator that was removed.
package struct NamedUAFCredential: Message {
  package let aaid: String, keyId: String

  package static let schema = MessageSchema(Self.init) {
    Member("aaid", \Self.aaid, .aaid)
    Member("keyId", \Self.keyId)
  }
}

/// A key of a UAF authenticator that was released from quarantine.
package struct ReleasedUAFCredential: Message {
  package let aaid: String, keyId: String, state: String

  package static let schema = MessageSchema(Self.init) {
    Member("aaid", \Self.aaid, .aaid)
    Member("keyId", \Self.keyId)
    Member("state", \Self.state, .oneOf(UAFCredentialRecord.State.active.rawValue))
  }
}

/// The devices that UAF tokens are sent to.
package struct UAFTargetList: Message {
  /// A target without its address, which only the device may read.
  package struct Target: Message {
    package let id: ID<UAFTargetRecord>, user: String, name: String, isEncrypted: Bool, created: Int64
    package let deviceId: String?, dispatcher: String?

    package static let schema = MessageSchema(Self.init, named: "UAFTarget") {
      Member("id", \Self.id)
      Member("user", \Self.user, .userName)
      Member("name", \Self.name)
      Member("isEncrypted", \Self.isEncrypted)
      Member("created", \Self.created, .time)
      Member("deviceId", \Self.deviceId)
      Member("dispatcher", \Self.dispatcher)
    }
  }
  package let targets: [Target]

  package static let schema = MessageSchema(Self.init) { Member("targets", \Self.targets) }
}

/// The models of UAF authenticators that the server knows.
package struct UAFModelList: Message {
  package struct Model: Message {
    package let aaid: String, description: String, authenticatorVersion: Int64, algorithm: String
    package let keyFormat: String, attestationTypes: [String], roots: Int64

    package static let schema = MessageSchema(Self.init, named: "UAFModel") {
      Member("aaid", \Self.aaid, .aaid)
      Member("description", \Self.description)
      Member("authenticatorVersion", \Self.authenticatorVersion)
      Member("algorithm", \Self.algorithm)
      Member("keyFormat", \Self.keyFormat)
      Member("attestationTypes", \Self.attestationTypes)
      Member("roots", \Self.roots)
    }
  }
  package let models: [Model]

  package static let schema = MessageSchema(Self.init) { Member("models", \Self.models) }
}

extension API {
  package static let listUAFCredentials = Endpoint(
    .get, "/admin/uaf/credentials", .read, "listUAFCredentials", "List the keys of UAF authenticators",
    in: .uaf, by: .admin, takes: .query(UAFUserQuery.self),
    answers: .json(UAFCredentialList.self, "Oldest first."), or: [.unknown])
  package static let removeUAFCredential = Endpoint(
    .delete, "/admin/uaf/credentials/{aaid}/{key}", .manage, "removeUAFCredential", "Remove a key",
    in: .uaf, by: .admin, answers: .json(NamedUAFCredential.self, "It is removed."),
    or: [.unknown, .conflict])
  package static let releaseUAFCredential = Endpoint(
    .post, "/admin/uaf/credentials/{aaid}/{key}/release", .manage, "releaseUAFCredential",
    "Take a key out of quarantine", in: .uaf, by: .admin,
    answers: .json(ReleasedUAFCredential.self, "The key can be used again."), or: [.unknown, .conflict])
  package static let listUAFTargets = Endpoint(
    .get, "/admin/uaf/targets", .read, "listUAFTargets", "List the devices that UAF tokens are sent to",
    in: .uaf, by: .admin, takes: .query(UAFUserQuery.self),
    answers: .json(UAFTargetList.self, "Oldest first."), or: [.unknown])
  package static let removeUAFTarget = Endpoint(
    .delete, "/admin/uaf/targets/{id}", .manage, "removeUAFTarget",
    "Remove a device that UAF tokens are sent to", in: .uaf, by: .admin,
    answers: .json(NamedByID.self, "It is removed."), or: [.unknown])
  package static let listUAFModels = Endpoint(
    .get, "/admin/uaf/models", .read, "listUAFModels",
    "List the models of UAF authenticators that the server knows", in: .uaf, by: .admin,
    answers: .json(UAFModelList.self, "By AAID."))
}

/// The UAF endpoints for operators (`docs/protocol.md` section 7).
struct UAFAdminEndpoints: Sendable {
  private static let limit = 1_000

  let context: ServiceContext

  var routes: [Route] {
    [
      API.listUAFCredentials.answered { [self] call in try await credentials(of: call.input.user) },
      API.removeUAFCredential.answered { [self] call in
        try await remove(credential(call[.aaid], call[.key]), by: call.caller.actor)
      },
      API.releaseUAFCredential.answered { [self] call in
        try await release(credential(call[.aaid], call[.key]), by: call.caller.actor)
      },
      API.listUAFTargets.answered { [self] call in try await targets(of: call.input.user) },
      API.removeUAFTarget.answered { [context] call in
        let id: ID<UAFTargetRecord> = call.id()
        let event = context.audit(by: call.caller.actor)(.uafTargetRemoved(target: id))
        guard try await context.storage.removeUAFTarget(id, audit: event) else {
          throw Problem(
            .unknown, "There is no such target; 'signet-server uaf targets' lists the targets.")
        }
        return NamedByID(id)
      },
      API.listUAFModels.answered { [self] _ in models },
    ]
  }

  // MARK: Keys

  private func credentials(of user: UserID?) async throws -> UAFCredentialList {
    let found: [UAFCredentialRecord]
    if let user {
      _ = try await UserService(context).find(user)
      found = try await context.storage.uafCredentials(user: user)
    } else {
      found = try await context.storage.uafCredentials(limit: Self.limit)
    }
    return UAFCredentialList(
      credentials: found.map { credential in
        UAFCredentialList.Credential(
          aaid: credential.aaid, keyId: Base64URL.encode(credential.keyID), user: credential.user.text,
          state: credential.state,
          algorithm: UAFAlgorithm(rawValue: credential.algorithm).description,
          signCounter: Int64(credential.signCounter),
          registrationCounter: Int64(credential.registrationCounter),
          authenticatorVersion: Int64(credential.authenticatorVersion), created: credential.created,
          deviceId: credential.device, attestation: credential.modelProof,
          keyProtection: AuthenticationEvidence(
            of: credential, among: context.uaf?.models
          ).keyProtection)
      })
  }

  private func remove(_ found: UAFCredentialRecord, by actor: AuditActor) async throws
    -> NamedUAFCredential
  {
    guard found.state != .revoked else {
      throw Problem(
        .uafKeyState, "The key is revoked; its row is kept so that it cannot be registered again.")
    }
    let audit = context.audit(by: actor)
    let selection = UAFKeySelection(aaid: found.aaid, keyID: found.keyID)
    let count = try await context.storage.removeUAFCredentials(of: found.user, [selection]) { aaid, key in
      audit(.uafDeregistered(session: nil, user: found.user, aaid: aaid, key: key))
    }
    guard count == 1 else { throw Self.unknownKey }
    return NamedUAFCredential(aaid: found.aaid, keyId: Base64URL.encode(found.keyID))
  }

  /// Releases a key from quarantine.
  ///
  /// The operator has found out which of the two copies is the user's, and that the other no longer exists.
  private func release(
    _ found: UAFCredentialRecord, by actor: AuditActor
  ) async throws -> ReleasedUAFCredential {
    let event = context.audit(by: actor)(
      .uafReleased(user: found.user, aaid: found.aaid, key: found.keyID))
    let isReleased = try await context.storage.releaseUAFCredential(
      aaid: found.aaid, keyID: found.keyID, audit: event)
    guard isReleased else {
      throw Problem(
        .uafKeyState,
        "The key is not in quarantine; 'signet-server uaf credentials' shows the state of each key."
      )
    }
    return ReleasedUAFCredential(
      aaid: found.aaid, keyId: Base64URL.encode(found.keyID), state: UAFCredentialRecord.State.active.rawValue
    )
  }

  private func credential(_ aaid: String, _ key: String) async throws -> UAFCredentialRecord {
    guard let aaid = AAID(aaid), let key = Base64URL.decodePadded(key),
      let found = try await context.storage.uafCredential(aaid: aaid.stored, keyID: key)
    else { throw Self.unknownKey }
    return found
  }

  private static let unknownKey = Problem(
    .unknown, "There is no such key; 'signet-server uaf credentials' lists the keys.")

  // MARK: Devices and models

  private func targets(of user: UserID?) async throws -> UAFTargetList {
    let found: [UAFTargetRecord]
    if let user {
      _ = try await UserService(context).find(user)
      found = try await context.storage.uafTargets(user: user)
    } else {
      found = try await context.storage.uafTargets(limit: Self.limit)
    }
    return UAFTargetList(
      targets: found.map { target in
        UAFTargetList.Target(
          id: target.id, user: target.user.text, name: target.name, isEncrypted: target.encryptionKey != nil,
          created: target.created, deviceId: target.device, dispatcher: target.dispatcher)
      })
  }

  private var models: UAFModelList {
    let models = context.uaf?.models
    let statements = models?.aaids.compactMap { models?[$0]?.statement } ?? []
    return UAFModelList(
      models: statements.map { statement in
        UAFModelList.Model(
          aaid: statement.aaid.stored, description: statement.description,
          authenticatorVersion: Int64(statement.authenticatorVersion),
          algorithm: statement.algorithm.description, keyFormat: statement.keyFormat.description,
          attestationTypes: statement.attestationTypes.map(\.description),
          roots: Int64(statement.attestationRootCertificates.count))
      })
  }
}
