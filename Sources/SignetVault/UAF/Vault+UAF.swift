import SignetCrypto
import SignetSQLite

/// The keys of FIDO UAF: one domain for each key, and one device-only domain with the data about all keys.
extension Vault {
  package static let uafDomain = "uaf"

  /// The UAF container; `nil` if there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func uafContainer() throws(VaultFailure) -> LocalContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.uaf, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// Returns the UAF container; makes it if there is none.
  ///
  /// - Parameters:
  ///   - records: The records of a new device-only domain; an existing one keeps its own.
  ///   - created: The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The container's identifier; of several concurrent processes, only one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeUAFContainer(
    records: [RecordDraft], created: Int64
  ) throws(VaultFailure) -> LocalContainerID {
    if let present = try uafContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.uafDomain, protection: .device, records: records)])
    return try add(draft, as: .uaf) { try only(.uaf, in: $0) }
  }

  /// Waits until no other process or task is sending a counter value to a server.
  ///
  /// A server treats a value below an earlier one as a sign of a copied key, so values must arrive in order.
  ///
  /// - Returns: The lock; the system releases it at the latest when the process ends.
  /// - Throws: ``VaultFailure``: `busy` if another holder takes too long, or the task is cancelled.
  package nonisolated func counterLock() async throws(VaultFailure) -> FolderLock {
    let path = VaultFolder(path: directory).counterLockPath
    let start = ContinuousClock.now
    while true {
      if let lock = try FolderLock(path, .exclusive(within: .zero)) { return lock }
      guard start.duration(to: .now) < settings.lockTimeout else { throw .busy }
      do { try await Task.sleep(for: .milliseconds(5)) } catch { throw .busy }
    }
  }

  /// Adds domains, deletes domains and changes the records of an open one, in one transaction.
  ///
  /// Hardware that counts counts the change, so that a rolled-back folder is rejected. The change is on the disk, and
  /// counted, before this returns.
  ///
  /// - Parameters:
  ///   - unlocked: The open domain.
  ///   - drafts: The domains to add. Their key derivation runs first and takes the time that its cost implies.
  ///   - body: Reads the open domain's current records, changes them, and adds the names of domains to delete.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of `body`; ``VaultFailure``: `duplicateName`, and `outdated` if the slot that opened the domain was
  ///   replaced.
  package func changeDomains<R>(
    beside unlocked: borrowing UnlockedDomain, adding drafts: [DomainDraft] = [],
    _ body: (inout OpenRecords, inout Set<String>) throws(VaultFailure) -> R
  ) throws(VaultFailure) -> R {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (domainID, opened) = (unlocked.domainID, unlocked.slot)
    let key = SharedSecretBox(unlocked.masterKey.copy())
    do {
      for draft in drafts { try draft.validate() }
      var isRemoved = false
      let result = try storingSlots {
        let newDomains = try drafts.map { try make($0, in: domainID.container) }
        return try tables.change(domainID.container) { rows in
          guard try rows.slot(domainID.domain, opened.header.kind).slot == opened else {
            throw VaultFailure.outdated(domain: domainID.domain)
          }
          for domain in newDomains {
            guard !rows.hasDomain(domain.name) else { throw VaultFailure.duplicateName(domain.name) }
            try rows.add(domain)
          }
          var records = OpenRecords(
            sealed: try rows.records(of: domainID.domain), key: key, domainID: domainID)
          var removed: Set<String> = []
          let result = try body(&records, &removed)
          for (name, sealed) in records.changes {
            try rows.setRecord(name, of: domainID.domain, to: sealed)
          }
          for name in removed where name != domainID.domain { try rows.removeDomain(name) }
          isRemoved = !removed.isEmpty
          return result
        }
      }
      if isRemoved { forgetReplaced() }
      return result
    } catch { throw VaultFailure(error) }
  }
}

/// The device's identity for UAF servers: records in their own container, in a device-only domain.
extension Vault {
  package static let uafDeviceDomain = "device"

  /// The container of these records; `nil` if there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func uafDeviceContainer() throws(VaultFailure) -> LocalContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.uafDevice, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// Returns the container of these records; makes it if there is none.
  ///
  /// - Parameter created: The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The container's identifier; of several concurrent processes, only one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeUAFDeviceContainer(created: Int64) throws(VaultFailure) -> LocalContainerID {
    if let present = try uafDeviceContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.uafDeviceDomain, protection: .device, records: [])])
    return try add(draft, as: .uafDevice) { try only(.uafDevice, in: $0) }
  }
}
