import SignetCrypto
import SignetPolicy
import SignetSQLite

extension Vault {
  /// Stores a container with its domains and records as *unconfirmed*, in one transaction.
  ///
  /// Key derivation from passwords runs first and takes the time that its cost implies. The vault file is not locked during it.
  ///
  /// - Returns: The identifier of the new container.
  /// - Throws: ``VaultFailure``.
  package func addContainer(_ draft: ContainerDraft) throws(VaultFailure) -> LocalContainerID {
    try add(draft, as: .unconfirmed)
  }

  /// Stores a container in one transaction, unless `present` returns an existing one; then returns that identifier.
  func add(
    _ draft: ContainerDraft, as state: StoredContainer.State,
    unless present: (VaultState) throws -> LocalContainerID? = { _ in nil }
  ) throws(VaultFailure) -> LocalContainerID {
    try draft.validate()
    do {
      let id = LocalContainerID(Identifier(from: SystemRandomSource()))
      let container = StoredContainer(
        id: id, state: state, created: draft.created, attributes: draft.attributes)
      return try storingSlots {
        let domains = try draft.domains.map { try make($0, in: id) }
        return try tables.changeState { state in
          if let other = try present(state) { return other }
          var rows = try ContainerRows(adding: container, to: tables, state)
          for domain in domains { try rows.add(domain) }
          state = rows.newState()
          return id
        }
      }
    } catch { throw VaultFailure(error) }
  }

  /// Activates a container and deletes any other of the same user at the same server and domain, in one transaction.
  ///
  /// Confirming an active container does nothing, so a caller can repeat the call after a crash.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - carrying: Returns the new extra data of the layer above. Its inputs are the extra data of the replaced container
  ///     and of this one.
  /// - Throws: ``VaultFailure``.
  package func confirmContainer(
    _ id: LocalContainerID,
    carrying: @Sendable (_ replaced: [UInt8], _ current: [UInt8]) -> [UInt8] = { $1 }
  ) throws(VaultFailure) {
    do {
      try tables.changeState { state in
        var rows = try ContainerRows(id, in: tables, state)
        var container = try rows.attributes()
        if container.state == .active { return }
        container.state = .active
        let replaced = try database.query(
          "SELECT id FROM container WHERE user_id = ? AND server = ? AND id <> ? AND state IN (?, ?)",
          .text(container.attributes.userID), .text(container.attributes.server), .blob(id.bytes),
          .integer(StoredContainer.State.unconfirmed.rawValue),
          .integer(StoredContainer.State.active.rawValue))
        let others = try replaced.map { row in
          guard let other = Identifier(try row.blob("id")) else {
            throw VaultFailure.altered(.container(nil))
          }
          return LocalContainerID(other)
        }
        for other in others {
          // An altered container is replaced too, but its extra data is not carried over.
          do {
            let present = try ContainerRows(other, in: tables, state).attributes()
            guard present.state == .active else { continue }
            container.attributes.extra = carrying(present.attributes.extra, container.attributes.extra)
          } catch VaultFailure.altered { continue }
        }
        try container.attributes.validate()
        try rows.store(container)
        state = rows.newState()
        for other in others { try delete(other, &state) }
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// Deletes a container that is not confirmed.
  ///
  /// If no container has this identifier, nothing happens.
  ///
  /// - Throws: ``VaultFailure``.
  package func discardContainer(_ id: LocalContainerID) throws(VaultFailure) {
    do {
      let isDeleted = try tables.changeState { state in
        do {
          guard try ContainerRows(id, in: tables, state).attributes().state == .unconfirmed else {
            return false
          }
        } catch VaultFailure.noSuchContainer { return false }
        return try delete(id, &state)
      }
      if isDeleted { forgetReplaced() }
    } catch { throw VaultFailure(error) }
  }

  /// Deletes a container with all its secrets, even if it was altered.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - notice: The notice for its server, stored in the same transaction.
  /// - Throws: ``VaultFailure``: `noSuchContainer` if no container has this identifier.
  package func deleteContainer(
    _ id: LocalContainerID, leaving notice: NoticeDraft? = nil
  ) throws(VaultFailure) {
    try deleteContainer(id, leaving: notice.map { [$0] } ?? [])
  }

  /// Deletes a container as ``deleteContainer(_:leaving:)`` does, and stores any number of notices.
  package func deleteContainer(_ id: LocalContainerID, leaving notices: [NoticeDraft]) throws(VaultFailure) {
    do {
      try tables.changeState { state in
        guard try delete(id, &state) else { throw VaultFailure.noSuchContainer(id) }
        for notice in notices { _ = try state.append(notice, in: tables) }
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// Returns the containers that match a filter, oldest first.
  ///
  /// - Parameter filter: The filter; all active containers by default.
  /// - Returns: The authenticated attributes and state of each.
  /// - Throws: ``VaultFailure/altered(_:)`` if any container of the vault was changed from outside: see ``alteredContainers()``.
  package func containers(matching filter: StoredContainerFilter = .init()) throws(VaultFailure)
    -> [StoredContainer]
  {
    do {
      let (intact, altered) = try tables.readAll { try $0.attributes() }
      if let id = altered.first { throw VaultFailure.altered(.container(id)) }
      return intact.filter(filter.accepts)
    } catch { throw VaultFailure(error) }
  }

  /// Returns the identifiers of containers that were changed from outside, so that they can be deleted.
  ///
  /// - Throws: ``VaultFailure``.
  package func alteredContainers() throws(VaultFailure) -> [LocalContainerID] {
    do { return try tables.readAll { try $0.attributes() }.altered.compactMap(\.self) } catch {
      throw VaultFailure(error)
    }
  }

  /// Returns the unverified attributes of a container that was changed from outside; use them only to find it.
  ///
  /// - Returns: The content of its row; `nil` if there is no row, or the content is not in a form that this program stores.
  /// - Throws: ``VaultFailure`` if the file cannot be read.
  package func unauthenticatedAttributes(of id: LocalContainerID) throws(VaultFailure) -> ContainerAttributes?
  {
    do {
      guard let row = try StoredContainer.row(of: id, in: database) else { return nil }
      return StoredContainer.unauthenticatedAttributes(row)
    } catch { throw VaultFailure(error) }
  }

  /// Returns one container.
  ///
  /// - Throws: ``VaultFailure``.
  package func container(_ id: LocalContainerID) throws(VaultFailure) -> StoredContainer {
    do { return try tables.read(id) { try $0.attributes() } } catch { throw VaultFailure(error) }
  }

  /// Changes a container's name.
  ///
  /// - Throws: ``VaultFailure``.
  package func renameContainer(_ id: LocalContainerID, to name: String) throws(VaultFailure) {
    try change(id) { $0.name = name }
  }

  /// Replaces a container's protocol facts.
  ///
  /// - Throws: ``VaultFailure``.
  package func setProtocolParameters(_ properties: [UInt8], of id: LocalContainerID) throws(VaultFailure) {
    try change(id) { $0.protocolParameters = properties }
  }

  /// Replaces the extra data that the layer above keeps with a container.
  ///
  /// - Throws: ``VaultFailure``.
  package func setExtra(_ extra: [UInt8], of id: LocalContainerID) throws(VaultFailure) {
    try change(id) { $0.extra = extra }
  }

  /// Changes the extra data that the layer above keeps with a container, in one transaction.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: True if rolling back the folder could undo this change to an attacker's advantage.
  ///   - notices: Notices for servers, stored in the same transaction.
  ///   - body: Changes the extra data.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of `body`; ``VaultFailure``.
  package func changeExtra<R: Sendable>(
    of id: LocalContainerID, isCounted: Bool, leaving notices: [NoticeDraft] = [],
    _ body: @Sendable (inout [UInt8]) throws(VaultFailure) -> R
  ) throws(VaultFailure) -> R {
    do {
      return try tables.changeState(isCounted: isCounted) { state in
        var rows = try ContainerRows(id, in: tables, state)
        var container = try rows.attributes()
        let result = try body(&container.attributes.extra)
        try container.attributes.validate()
        try rows.store(container)
        state = rows.newState()
        for notice in notices { _ = try state.append(notice, in: tables) }
        return result
      }
    } catch { throw VaultFailure(error) }
  }

  /// Replaces the connection settings of a container's server.
  ///
  /// - Throws: ``VaultFailure``.
  package func setConnection(_ connection: ServerTrust, of id: LocalContainerID) throws(VaultFailure) {
    try change(id) { $0.connection = connection }
  }

  private func change(_ id: LocalContainerID, _ change: (inout ContainerAttributes) -> Void)
    throws(VaultFailure)
  {
    do {
      try tables.change(id, isCounted: false) { rows in
        var container = try rows.attributes()
        change(&container.attributes)
        try container.attributes.validate()
        try rows.store(container)
      }
    } catch { throw VaultFailure(error) }
  }

  /// Deletes a container; if it was altered, its hardware locations stay in use, because no row names them reliably.
  ///
  /// - Returns: True if there was such a container.
  @discardableResult
  private func delete(_ id: LocalContainerID, _ state: inout VaultState) throws -> Bool {
    do {
      var rows = try ContainerRows(id, in: tables, state)
      state = try rows.delete()
      return true
    } catch VaultFailure.noSuchContainer { return false } catch VaultFailure.altered {
      state = try state.deleting(id, from: tables)
      return true
    }
  }

  /// Makes a domain without storing it.
  ///
  /// - Precondition: Called in ``storingSlots(_:)``, outside of a transaction.
  func make(_ draft: DomainDraft, in container: LocalContainerID) throws -> MadeDomain {
    let domainID = DomainID(vault: seal.vault, container: container, domain: draft.name)
    let masterKey = SecretBytes.random(byteCount: ProtectionSlot.keyByteCount)
    var slots: [NewSlot] = []
    var times: PasswordTimes?
    var silent: SilentSealing?
    for opening in try openings(of: draft.protection) {
      var header = SlotHeader(
        keystore: keystore.kind, opening: opening,
        salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), domainID: domainID)
      var derived: SharedSecretBox?
      if case .password(let typed, let policy) = draft.protection {
        let password = try typed.withSecret { try preparedPassword($0) }
        header.guessLimit = guessLimit(policy)
        derived = SharedSecretBox(try password.withSecret { try header.derive($0, settings.derivation) })
        times = draft.passwordTimes ?? PasswordTimes(setAt: moment.wallSeconds, isInitial: true)
      }
      let secret = SecretBytes.random(byteCount: ProtectionSlot.keyByteCount)
      slots.append(try newSlot(masterKey, header: header, derived: derived, hardwareSecret: secret))
      if header.isSilent { silent = SilentSealing(hardwareSecret: secret, domainID: domainID) }
    }
    let records = try draft.records.map { record in
      let sealed = try record.secret.withSecret {
        if let silent { return try silent.sealRecord(record.name, $0, record.form, masterKey: masterKey) }
        return try AESGCM.sealCombined(
          $0, key: masterKey, additionalData: domainID.recordContext(record.name))
      }
      return (name: record.name, sealed: sealed)
    }
    return MadeDomain(name: draft.name, slots: slots, times: times, records: records)
  }

  private func openings(of protection: DomainDraft.Protection) throws -> [SlotHeader.Opening] {
    switch protection {
    case .device: [.device]
    case .password(_, let policy): [.password(try passwordCost(), policy)]
    case .biometrics(let set, let passcodeToo):
      [.biometric(enrolledSet: set?.digest ?? SlotHeader.Opening.anySet)]
        + (passcodeToo ? [.devicePasscode] : [])
    case .devicePasscode: [.devicePasscode]
    }
  }
}

/// A domain with its slots and records that is not stored yet.
struct MadeDomain {
  let name: String
  let slots: [NewSlot]
  let times: PasswordTimes?
  let records: [(name: String, sealed: [UInt8])]
}

extension ContainerRows {
  mutating func add(_ domain: MadeDomain) throws {
    for slot in domain.slots {
      try store(slot, password: slot.slot.header.kind == .password ? domain.times : nil)
    }
    for record in domain.records { try setRecord(record.name, of: domain.name, to: record.sealed) }
  }
}
