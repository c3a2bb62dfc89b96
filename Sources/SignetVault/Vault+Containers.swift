import SignetCrypto
import SignetPolicy
import SignetSQLite

extension Vault {
  /// Stores a container with its domains and records as *unconfirmed*, all of it or nothing.
  ///
  /// Deriving keys from passwords comes first and takes as long as their cost says; the vault file is not locked meanwhile.
  ///
  /// - Returns: The name of the new container.
  /// - Throws: ``VaultFailure``.
  package func addContainer(_ draft: ContainerDraft) throws(VaultFailure) -> ContainerID {
    try draft.validate()
    do {
      let id = ContainerID(Identifier(from: SystemRandomSource()))
      let container = Container(
        id: id, state: .unconfirmed, created: draft.created, attributes: draft.attributes)
      let domains = try draft.domains.map { try make($0, in: id) }
      try storing(domains.map(\.slot.slot)) {
        try change {
          try container.insert(into: database, seal)
          for domain in domains {
            try domain.slot.store(in: database, seal)
            for record in domain.records {
              try database.execute(
                "INSERT INTO record (container, domain, name, sealed) VALUES (?, ?, ?, ?)", .blob(id.bytes),
                .text(domain.name), .text(record.name), .blob(record.sealed))
            }
          }
        }
      }
      return id
    } catch { throw VaultFailure(error) }
  }

  /// Marks a container as active, and deletes any other of the same user at the same server and domain, all of it or nothing.
  ///
  /// Confirming an active container does nothing, so a caller that does not know whether it got this far can ask again.
  ///
  /// - Throws: ``VaultFailure``.
  package func confirmContainer(_ id: ContainerID) throws(VaultFailure) {
    do {
      try change {
        var container = try Container.find(id, in: database, seal)
        if container.state == .active { return }
        try delete(
          where: "user_id = ? AND server = ? AND id <> ?",
          [.text(container.attributes.userID), .text(container.attributes.server), .blob(id.bytes)])
        container.state = .active
        try container.update(in: database, seal)
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// Deletes a container that is not confirmed.
  ///
  /// Nothing happens if there is none of this name.
  ///
  /// - Throws: ``VaultFailure``.
  package func discardContainer(_ id: ContainerID) throws(VaultFailure) {
    try delete(id, where: "id = ? AND state = 0")
  }

  /// Deletes a container with all its secrets, also one that was altered.
  ///
  /// - Throws: ``VaultFailure``: `noSuchContainer` if there is none of this name.
  package func deleteContainer(_ id: ContainerID) throws(VaultFailure) {
    guard try delete(id, where: "id = ?") else { throw .noSuchContainer(id) }
  }

  /// The containers that fulfil a filter, oldest first.
  ///
  /// - Parameter filter: All active containers, unless told otherwise.
  /// - Returns: What is known about each.
  /// - Throws: ``VaultFailure/altered(_:)`` if any container of the vault was changed from outside: see ``alteredContainers()``.
  package func containers(matching filter: ContainerFilter = .init()) throws(VaultFailure) -> [Container] {
    do {
      let (sound, altered) = try Container.all(in: database, seal)
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return sound.filter(filter.accepts)
    } catch { throw VaultFailure(error) }
  }

  /// The names of containers that were changed from outside, so that they can be deleted.
  ///
  /// - Throws: ``VaultFailure``.
  package func alteredContainers() throws(VaultFailure) -> [ContainerID] {
    do { return try Container.all(in: database, seal).altered.compactMap(\.self) } catch {
      throw VaultFailure(error)
    }
  }

  /// One container.
  ///
  /// - Throws: ``VaultFailure``.
  package func container(_ id: ContainerID) throws(VaultFailure) -> Container {
    do { return try Container.find(id, in: database, seal) } catch { throw VaultFailure(error) }
  }

  /// Gives a container another name.
  ///
  /// - Throws: ``VaultFailure``.
  package func renameContainer(_ id: ContainerID, to name: String) throws(VaultFailure) {
    try change(id) { $0.name = name }
  }

  /// Replaces what the layer above keeps with a container.
  ///
  /// - Throws: ``VaultFailure``.
  package func setExtra(_ extra: [UInt8], of id: ContainerID) throws(VaultFailure) {
    try change(id) { $0.extra = extra }
  }

  /// Replaces how a container's server is reached.
  ///
  /// - Throws: ``VaultFailure``.
  package func setConnection(_ connection: ConnectionSettings, of id: ContainerID) throws(VaultFailure) {
    try change(id) { $0.connection = connection }
  }

  private func change(_ id: ContainerID, _ change: (inout ContainerAttributes) -> Void) throws(VaultFailure) {
    do {
      try database.transaction {
        var container = try Container.find(id, in: database, seal)
        change(&container.attributes)
        try container.attributes.validate()
        try container.update(in: database, seal)
      }
    } catch { throw VaultFailure(error) }
  }

  @discardableResult
  private func delete(_ id: ContainerID, where condition: String) throws(VaultFailure) -> Bool {
    do {
      let isDeleted = try change { try delete(where: condition, [.blob(id.bytes)]) }
      if isDeleted { forgetReplaced() }
      return isDeleted
    } catch { throw VaultFailure(error) }
  }

  @discardableResult
  private func delete(where condition: String, _ values: [SQLiteValue]) throws -> Bool {
    try retireSlots(where: "container IN (SELECT id FROM container WHERE \(condition))", values)
    try database.execute("DELETE FROM container WHERE \(condition)", values)
    return database.changes > 0
  }

  private struct MadeDomain {
    let name: String
    let slot: SlotRow
    let records: [(name: String, sealed: [UInt8])]
  }

  private func make(_ draft: DomainDraft, in container: ContainerID) throws -> MadeDomain {
    let place = DomainPlace(vault: seal.vault, container: container, domain: draft.name)
    let masterKey = SecretBytes.random(byteCount: ProtectionSlot.keyByteCount)
    var header = SlotHeader(
      keystore: keystore.kind, opening: .device,
      salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), place: place)
    var derived: SharedSecretBox?
    var times: PasswordTimes?
    if case .password(let typed, let policy) = draft.protection {
      let password = try typed.withSecret { try preparedPassword($0) }
      header.opening = .password(try passwordCost(), policy)
      header.guessLimit = guessLimit(policy)
      derived = SharedSecretBox(try password.withSecret { try header.derive($0, settings.derivation) })
      times = draft.passwordTimes ?? PasswordTimes(setAt: moment.wallSeconds, isInitial: true)
    }
    let secret = SecretBytes.random(byteCount: ProtectionSlot.keyByteCount)
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: header, derived: derived, hardwareSecret: secret, keystore: keystore)
    let silent = header.isSilent ? SilentSealing(hardwareSecret: secret, place: place) : nil
    let records = try draft.records.map { record in
      let sealed = try record.secret.withSecret {
        if let silent { return try silent.sealRecord(record.name, $0, record.form, masterKey: masterKey) }
        return try AESGCM.sealCombined($0, key: masterKey, additionalData: place.recordContext(record.name))
      }
      return (name: record.name, sealed: sealed)
    }
    return MadeDomain(name: draft.name, slot: SlotRow(slot: slot, password: times), records: records)
  }
}
