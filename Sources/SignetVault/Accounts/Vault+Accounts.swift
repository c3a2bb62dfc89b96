package import SignetCrypto
import SignetSQLite

/// Accounts that no server has made: records in a container of their own, protected like any other.
extension Vault {
  /// The domain that holds them.
  package static let accountsDomain = "accounts"

  /// The container that holds them; `nil` as long as there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func accountsContainer() throws(VaultFailure) -> ContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.accounts, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// The container that holds them; it is made if there is none.
  ///
  /// - Parameters:
  ///   - protection: What opens a new one; one that is there keeps its own.
  ///   - created: When it was made, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The name of the container; of several processes that do this at once, one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeAccountsContainer(
    protection: DomainDraft.Protection, created: Int64
  ) throws(VaultFailure) -> ContainerID {
    if let present = try accountsContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.accountsDomain, protection: protection, records: [])])
    return try add(draft, as: .accounts) { try only(.accounts, in: $0) }
  }

  /// The container in a state of which there is one container at most.
  func only(_ wanted: Container.State, in state: VaultState) throws -> ContainerID? {
    let names = try Container.names(in: database).compactMap(\.self)
    var altered: ContainerID?
    for name in names {
      do {
        if try ContainerRows(name, in: tables, state).attributes().state == wanted { return name }
      } catch VaultFailure.altered { altered = name }
    }
    let missing = state.containers.subtracting(names.map(\.bytes)).first
    // One that was changed or taken away may be it: what is added must not go elsewhere, as if there were none.
    if let lost = altered ?? missing.flatMap({ Identifier($0) }).map(ContainerID.init) {
      throw VaultFailure.altered(.container(lost))
    }
    return nil
  }

  /// Changes what opens an open domain; every other way of opening it is void from then on.
  ///
  /// - Parameters:
  ///   - protection: What opens it from now on.
  ///   - unlocked: The domain.
  /// - Returns: What kept the hardware from counting the change, which is done all the same; `nil` where nothing did.
  /// - Throws: ``VaultFailure``: `outdated` if something else was changed meanwhile, `silentDomain`.
  @discardableResult
  package func setProtection(
    _ protection: DomainDraft.Protection, of unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) -> VaultFailure? {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (place, opened) = (unlocked.place, unlocked.slot)
    do {
      let uncounted = try storingSlots {
        let slot: NewSlot
        var times: PasswordTimes?
        switch protection {
        case .device:
          let header = SlotHeader(
            keystore: keystore.kind, opening: .device,
            salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), place: place)
          slot = try newSlot(
            unlocked.masterKey, header: header, derived: nil,
            hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount))
        case .password(let typed, let lock):
          let password = try typed.withSecret { try preparedPassword($0) }
          slot = try passwordSlot(
            for: unlocked.masterKey, password, cost: try passwordCost(), lock, place)
          times = PasswordTimes(setAt: moment.wallSeconds, isInitial: false)
        case .biometrics, .devicePasscode:
          throw VaultFailure.invalidDraft(
            reason: "a finger, a face or the passcode is enabled beside a password; change to one first")
        }
        return try tables.changeBeforeCounting(place.container) { rows in
          guard try rows.slot(place.domain, opened.header.kind).slot == opened else {
            throw VaultFailure.outdated(domain: place.domain)
          }
          try rows.retireSlots(of: place.domain)
          for kind in SlotKind.allCases { try rows.removeSlot(place.domain, kind) }
          try rows.store(slot, password: times)
        }.uncounted
      }
      forgetReplaced()
      return uncounted
    } catch { throw VaultFailure(error) }
  }

  /// Changes the records of an open domain, all of it or nothing, with nobody changing them meanwhile.
  ///
  /// - Parameters:
  ///   - unlocked: The domain.
  ///   - body: Reads them as they are now, and changes them.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``VaultFailure``: `outdated` where the domain was opened in a way that is void by now.
  package func changeRecords<R>(
    of unlocked: borrowing UnlockedDomain, _ body: (inout OpenRecords) throws(VaultFailure) -> R
  ) throws(VaultFailure) -> R {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (place, opened) = (unlocked.place, unlocked.slot)
    let key = SharedSecretBox(unlocked.masterKey.copy())
    do {
      return try tables.change(place.container, isCounted: false) { rows in
        guard try rows.slot(place.domain, opened.header.kind).slot == opened else {
          throw VaultFailure.outdated(domain: place.domain)
        }
        var records = OpenRecords(sealed: try rows.records(of: place.domain), key: key, place: place)
        let result = try body(&records)
        for (name, sealed) in records.changes { try rows.setRecord(name, of: place.domain, to: sealed) }
        return result
      }
    } catch { throw VaultFailure(error) }
  }
}

extension UnlockedDomain {
  /// The records as they were when the domain was opened, to be read one after the other.
  ///
  /// - Throws: ``VaultFailure/silentDomain(_:)``.
  package borrowing func openedRecords() throws(VaultFailure) -> OpenRecords {
    guard !isSilent else { throw .silentDomain(name) }
    return OpenRecords(sealed: records, key: SharedSecretBox(masterKey.copy()), place: place)
  }
}

/// The records of an open domain: as they were when it was opened, or in one change.
package struct OpenRecords {
  private var sealed: [String: [UInt8]]
  private let key: SharedSecretBox
  private let place: DomainPlace
  /// What is to be stored; `nil` for what is to go.
  private(set) var changes: [String: [UInt8]?] = [:]

  init(sealed: [String: [UInt8]], key: SharedSecretBox, place: DomainPlace) {
    (self.sealed, self.key, self.place) = (sealed, key, place)
  }

  /// The names, sorted.
  package var names: [String] { sealed.keys.filter(DomainPlace.isName).sorted() }

  /// A record; `nil` if there is none of this name.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``.
  package func secret(_ name: String) throws(VaultFailure) -> SecretBytes? {
    guard let bytes = sealed[name] else { return nil }
    do throws(CryptoFailure) {
      return try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.openCombined(bytes, key: key, additionalData: place.recordContext(name))
      }
    } catch { throw .altered(.record(place.container, domain: place.domain, name: name)) }
  }

  /// Stores a record, in the place of one of the same name if there is one.
  ///
  /// - Throws: ``VaultFailure``.
  package mutating func set(_ name: String, to secret: borrowing SecretBytes) throws(VaultFailure) {
    guard DomainPlace.isName(name) else { throw .invalidName }
    let bytes: [UInt8]
    do throws(CryptoFailure) {
      bytes = try key.withSecret { (key) throws(CryptoFailure) in
        try AESGCM.sealCombined(secret, key: key, additionalData: place.recordContext(name))
      }
    } catch { throw .crypto(error) }
    sealed[name] = bytes
    changes[name] = .some(bytes)
  }

  /// Takes a record away; nothing happens if there is none of this name.
  package mutating func remove(_ name: String) {
    guard sealed.removeValue(forKey: name) != nil else { return }
    changes[name] = .some(nil)
  }
}
