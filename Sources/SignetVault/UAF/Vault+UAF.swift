import SignetCrypto
import SignetSQLite

/// The keys of FIDO UAF: each in a domain of its own, and one domain that the device opens, with what is known of them all.
extension Vault {
  /// The domain that the device alone opens.
  package static let uafDomain = "uaf"

  /// The container that holds them; `nil` as long as there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func uafContainer() throws(VaultFailure) -> ContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.uaf, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// The container that holds them; it is made if there is none.
  ///
  /// - Parameters:
  ///   - records: What the domain of the device begins with; where there is one, it keeps its own.
  ///   - created: When it was made, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The name of the container; of several processes that do this at once, one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeUAFContainer(
    records: [RecordDraft], created: Int64
  ) throws(VaultFailure) -> ContainerID {
    if let present = try uafContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.uafDomain, protection: .device, records: records)])
    return try add(draft, as: .uaf) { try only(.uaf, in: $0) }
  }

  /// Waits until nobody else, in whatever process, has a number of a counter on its way to a server.
  ///
  /// A server takes a number that comes after a higher one for that of a copied key, so numbers have to arrive in their order.
  ///
  /// - Returns: The lock; it ends with the process at the latest.
  /// - Throws: ``VaultFailure``: `busy` where somebody else takes too long, or the task is cancelled.
  package nonisolated func counterTurn() async throws(VaultFailure) -> FolderLock {
    let path = VaultFolder(path: directory).counterLockPath
    let start = ContinuousClock.now
    while true {
      if let turn = try FolderLock(path, .alone) { return turn }
      guard start.duration(to: .now) < settings.longestTurn else { throw .busy }
      do { try await Task.sleep(for: .milliseconds(5)) } catch { throw .busy }
    }
  }

  /// Adds domains to a container, takes some away and changes the records of an open one, all of it or nothing.
  ///
  /// The hardware counts it where it counts: no older copy of the folder brings back what was before. It is on the disk, and
  /// counted, before this returns.
  ///
  /// - Parameters:
  ///   - unlocked: The open domain.
  ///   - drafts: The domains to add; deriving keys from their passwords comes first and takes as long as their cost says.
  ///   - body: Reads the open domain's records as they are now, changes them, and says which domains go.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``VaultFailure``: `duplicateName`, and `outdated` where the domain was opened in a way that is
  ///   void by now.
  package func changeDomains<R>(
    beside unlocked: borrowing UnlockedDomain, adding drafts: [DomainDraft] = [],
    _ body: (inout OpenRecords, inout Set<String>) throws(VaultFailure) -> R
  ) throws(VaultFailure) -> R {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let (place, opened) = (unlocked.place, unlocked.slot)
    let key = SharedSecretBox(unlocked.masterKey.copy())
    do {
      for draft in drafts { try draft.validate() }
      var isRemoved = false
      let result = try storingSlots {
        let made = try drafts.map { try make($0, in: place.container) }
        return try tables.change(place.container) { rows in
          guard try rows.slot(place.domain, opened.header.kind).slot == opened else {
            throw VaultFailure.outdated(domain: place.domain)
          }
          for domain in made {
            guard !rows.hasDomain(domain.name) else { throw VaultFailure.duplicateName(domain.name) }
            try rows.add(domain)
          }
          var records = OpenRecords(sealed: try rows.records(of: place.domain), key: key, place: place)
          var removed: Set<String> = []
          let result = try body(&records, &removed)
          for (name, sealed) in records.changes {
            try rows.setRecord(name, of: place.domain, to: sealed)
          }
          for name in removed where name != place.domain { try rows.removeDomain(name) }
          isRemoved = !removed.isEmpty
          return result
        }
      }
      if isRemoved { forgetReplaced() }
      return result
    } catch { throw VaultFailure(error) }
  }
}
