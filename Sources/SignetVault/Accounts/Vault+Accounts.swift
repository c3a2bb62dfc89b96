package import SignetCrypto
import SignetSQLite

/// Accounts without a Signet server: records in their own container, with the same protection as others.
extension Vault {
  package static let accountsDomain = "accounts"

  /// The container of the accounts; `nil` if there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func accountsContainer() throws(VaultFailure) -> LocalContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.accounts, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// Returns the container of the accounts; makes it if there is none.
  ///
  /// - Parameters:
  ///   - protection: The protection of a new container; an existing one keeps its own.
  ///   - created: The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The container's identifier; of several concurrent processes, only one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeAccountsContainer(
    protection: DomainDraft.Protection, created: Int64
  ) throws(VaultFailure) -> LocalContainerID {
    if let present = try accountsContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.accountsDomain, protection: protection, records: [])])
    return try add(draft, as: .accounts) { try only(.accounts, in: $0) }
  }

  /// Returns the container in a state that at most one container has.
  func only(_ expected: StoredContainer.State, in state: VaultState) throws -> LocalContainerID? {
    let names = try StoredContainer.names(in: database).compactMap(\.self)
    var altered: LocalContainerID?
    for name in names {
      do {
        if try ContainerRows(name, in: tables, state).attributes().state == expected { return name }
      } catch VaultFailure.altered { altered = name }
    }
    let missing = state.containers.subtracting(names.map(\.bytes)).first
    // An altered or missing container may be the wanted one. Then fail, so that no second one is made.
    if let damaged = altered ?? missing.flatMap({ Identifier($0) }).map(LocalContainerID.init) {
      throw VaultFailure.altered(.container(damaged))
    }
    return nil
  }

  /// Replaces the protection of an open domain; all its other slots become invalid.
  ///
  /// - Parameters:
  ///   - protection: The new protection.
  ///   - unlocked: The domain.
  /// - Returns: The failure that kept the hardware from counting the change, which is stored anyway; `nil` if there was none.
  /// - Throws: ``VaultFailure``: `outdated` if the slot was changed meanwhile, `silentDomain`.
  @discardableResult
  package func setProtection(
    _ protection: DomainDraft.Protection, of unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> VaultFailure? {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (domainID, opened) = (unlocked.domainID, unlocked.slot)
    do {
      let uncounted = try storingSlots {
        let slot: NewSlot
        var times: PasswordTimes?
        switch protection {
        case .device:
          let header = SlotHeader(
            keystore: keystore.kind, opening: .device,
            salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), domainID: domainID)
          slot = try newSlot(
            unlocked.masterKey, header: header, derived: nil,
            hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount))
        case .password(let typed, let lock):
          let password = try typed.withSecret { try preparedPassword($0) }
          slot = try passwordSlot(
            for: unlocked.masterKey, password, cost: try passwordCost(), lock, domainID)
          times = PasswordTimes(setAt: moment.wallSeconds, isInitial: false)
        case .biometrics, .devicePasscode:
          throw VaultFailure.invalidDraft(
            reason:
              "biometrics and the passcode can be enabled only in addition to a password; set a password first"
          )
        }
        return try tables.changeBeforeCounting(domainID.container) { rows in
          guard try rows.slot(domainID.domain, opened.header.kind).slot == opened else {
            throw VaultFailure.outdated(domain: domainID.domain)
          }
          try rows.retireSlots(of: domainID.domain)
          for kind in SlotKind.allCases { try rows.removeSlot(domainID.domain, kind) }
          try rows.store(slot, password: times)
        }.uncounted
      }
      forgetReplaced()
      return uncounted
    } catch { throw VaultFailure(error) }
  }

  /// Changes the records of an open domain, in one transaction.
  ///
  /// - Parameters:
  ///   - unlocked: The domain.
  ///   - body: Reads the current records and changes them.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of `body`; ``VaultFailure``: `outdated` if the slot that opened the domain was replaced.
  package func changeRecords<R>(
    of unlocked: borrowing UnlockedDomain, _ body: (inout OpenRecords) throws(VaultFailure) -> R
  ) throws(VaultFailure) -> R {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (domainID, opened) = (unlocked.domainID, unlocked.slot)
    let key = SharedSecretBox(unlocked.masterKey.copy())
    do {
      return try tables.change(domainID.container, isCounted: false) { rows in
        guard try rows.slot(domainID.domain, opened.header.kind).slot == opened else {
          throw VaultFailure.outdated(domain: domainID.domain)
        }
        var records = OpenRecords(sealed: try rows.records(of: domainID.domain), key: key, domainID: domainID)
        let result = try body(&records)
        for (name, sealed) in records.changes { try rows.setRecord(name, of: domainID.domain, to: sealed) }
        return result
      }
    } catch { throw VaultFailure(error) }
  }
}

extension UnlockedDomain {
  /// The records at the time when the domain was opened, decrypted one at a time.
  ///
  /// - Throws: ``VaultFailure/silentDomain(_:)``.
  package borrowing func openedRecords() throws(VaultFailure) -> OpenRecords {
    guard !isSilent else { throw .silentDomain(name) }
    return OpenRecords(sealed: records, key: SharedSecretBox(masterKey.copy()), domainID: domainID)
  }
}

/// The records of an open domain, at the time of opening or within one change.
package struct OpenRecords {
  private var sealed: [String: [UInt8]]
  private let key: SharedSecretBox
  private let domainID: DomainID
  /// The sealed records to store; `nil` for a record to delete.
  private(set) var changes: [String: [UInt8]?] = [:]

  init(sealed: [String: [UInt8]], key: SharedSecretBox, domainID: DomainID) {
    self.sealed = sealed
    self.key = key
    self.domainID = domainID
  }

  /// The names, sorted.
  package var names: [String] { sealed.keys.filter(DomainID.isName).sorted() }

  /// A record; `nil` if there is none with this name.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``.
  package func secret(_ name: String) throws(VaultFailure) -> SecretBytes? {
    guard let bytes = sealed[name] else { return nil }
    do throws(CryptoFailure) {
      return try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.openCombined(bytes, key: key, additionalData: domainID.recordContext(name))
      }
    } catch { throw .altered(.record(domainID.container, domain: domainID.domain, name: name)) }
  }

  /// Stores a record; replaces one of the same name.
  ///
  /// - Throws: ``VaultFailure``.
  package mutating func set(_ name: String, to secret: borrowing SecretBytes) throws(VaultFailure) {
    guard DomainID.isName(name) else { throw .invalidName }
    let bytes: [UInt8]
    do throws(CryptoFailure) {
      bytes = try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.sealCombined(secret, key: key, additionalData: domainID.recordContext(name))
      }
    } catch { throw .crypto(error) }
    sealed[name] = bytes
    changes[name] = .some(bytes)
  }

  /// Deletes a record; does nothing if there is none with this name.
  package mutating func remove(_ name: String) {
    guard sealed.removeValue(forKey: name) != nil else { return }
    changes[name] = .some(nil)
  }
}
