import SignetCrypto
import SignetSQLite

/// The tables of a vault, with the keys and counters to read, verify and change them.
struct VaultTables {
  let database: Database
  let seal: RowSeal
  /// The lowest accepted cost of a password slot.
  let floor: Argon2id
  /// `nil` if the keystore does not count.
  var counter: HardwareCounter?

  /// Reads a container in one consistent snapshot.
  func read<R>(_ id: LocalContainerID, _ body: (inout ContainerRows) throws -> R) throws -> R {
    try database.transaction(.deferred) {
      var rows = try ContainerRows(id, in: self, VaultState(from: self))
      return try body(&rows)
    }
  }

  /// Reads all containers in one consistent snapshot, oldest first.
  ///
  /// - Returns: The result of `body` for each container that verifies, and the claimed identifiers of the others.
  func readAll<R>(_ body: (ContainerRows) throws -> R) throws -> (intact: [R], altered: [LocalContainerID?]) {
    try database.transaction(.deferred) {
      let state = try VaultState(from: self)
      let names = try StoredContainer.names(in: database)
      var (intact, altered): ([R], [LocalContainerID?]) = ([], [])
      for name in names {
        do {
          guard let name else { throw VaultFailure.altered(.container(nil)) }
          intact.append(try body(try ContainerRows(name, in: self, state)))
        } catch VaultFailure.altered { altered.append(name) }
      }
      let missing = state.containers.subtracting(names.compactMap { $0?.bytes })
      return (intact, altered + missing.map { Identifier($0).map(LocalContainerID.init) })
    }
  }

  /// Changes a container in one transaction.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: True if rolling back the folder could undo this change to an attacker's advantage. If that depends on
  ///     the rows, pass false and call ``ContainerRows/advanceNumber()`` in `body`.
  ///   - body: The change.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of `body`; ``VaultFailure/rolledBack(found:expected:)`` if the folder is an older copy.
  func change<R>(
    _ id: LocalContainerID, isCounted: Bool = true, _ body: (inout ContainerRows) throws -> R
  ) throws -> R {
    try changeState(isCounted: isCounted) { try change(id, &$0, body) }
  }

  private func change<R>(
    _ id: LocalContainerID, _ state: inout VaultState, _ body: (inout ContainerRows) throws -> R
  ) throws -> R {
    var rows = try ContainerRows(id, in: self, state)
    let result = try body(&rows)
    state = rows.newState()
    return result
  }

  /// Changes a container without requiring that the hardware counts: the change is complete when it is on the disk.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: As in ``change(_:isCounted:_:)``.
  ///   - body: The change.
  /// - Returns: The result of `body`, and the failure that kept the hardware from counting, if any. The next counted change
  ///   or the next opening of the vault advances the counter.
  /// - Throws: The errors of ``change(_:isCounted:_:)``; then nothing was changed.
  func changeBeforeCounting<R>(
    _ id: LocalContainerID, isCounted: Bool = true, _ body: (inout ContainerRows) throws -> R
  ) throws -> (result: R, uncounted: VaultFailure?) {
    let (result, isBehind) = try commit(isCounted: isCounted) { try change(id, &$0, body) }
    guard isBehind else { return (result, nil) }
    do { try catchUpCounter() } catch { return (result, VaultFailure(error)) }
    return (result, nil)
  }

  /// Changes rows that belong to no single container, or to many.
  func changeState<R>(isCounted: Bool = true, _ body: (inout VaultState) throws -> R) throws -> R {
    let (result, isBehind) = try commit(isCounted: isCounted, body)
    if isBehind { try catchUpCounter() }
    return result
  }

  /// Writes a change to the disk.
  ///
  /// - Returns: The result of `body`, and true if the hardware must count up to the number on the disk.
  private func commit<R>(
    isCounted: Bool, _ body: (inout VaultState) throws -> R
  ) throws -> (result: R, isBehind: Bool) {
    try database.transaction {
      var state = try VaultState(from: self)
      if isCounted { try state.advanceNumber(counter) }
      let result = try body(&state)
      try state.store(in: self)
      return (result, counter != nil && state.isCounted)
    }
  }

  /// Advances the hardware counter to the number on the disk.
  ///
  /// If two processes counted at once, the counter would pass that number. So this transaction excludes other writers and
  /// reads the number inside.
  ///
  /// - Throws: ``VaultFailure``: `altered`, `rolledBack`; ``KeystoreFailure``, ``SQLiteFailure``.
  func catchUpCounter() throws {
    try database.transaction {
      let state = try VaultState(from: self)
      try counter?.reach(state)
    }
  }
}
