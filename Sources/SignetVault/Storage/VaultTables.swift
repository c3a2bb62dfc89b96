import SignetCrypto
import SignetSQLite

/// The tables of a vault, with what it takes to read them, to believe them and to change them.
struct VaultTables {
  let database: Database
  let seal: RowSeal
  /// The least cost that a password slot may have.
  let floor: Argon2id
  /// `nil` where the keystore does not count.
  var counter: HardwareCounter?

  /// Reads a container, in one unchanging state.
  func read<R>(_ id: ContainerID, _ body: (inout ContainerRows) throws -> R) throws -> R {
    try database.transaction(.deferred) {
      var rows = try ContainerRows(id, in: self, VaultState(from: self))
      return try body(&rows)
    }
  }

  /// Reads all containers, in one unchanging state, the oldest first.
  ///
  /// - Returns: What `body` makes of those that are as they were stored, and the names that the others claim.
  func readAll<R>(_ body: (ContainerRows) throws -> R) throws -> (sound: [R], altered: [ContainerID?]) {
    try database.transaction(.deferred) {
      let state = try VaultState(from: self)
      let names = try Container.names(in: database)
      var (sound, altered): ([R], [ContainerID?]) = ([], [])
      for name in names {
        do {
          guard let name else { throw VaultFailure.altered(.container(nil)) }
          sound.append(try body(try ContainerRows(name, in: self, state)))
        } catch VaultFailure.altered { altered.append(name) }
      }
      let missing = state.containers.subtracting(names.compactMap { $0?.bytes })
      return (sound, altered + missing.map { Identifier($0).map(ContainerID.init) })
    }
  }

  /// Changes a container, all of it or nothing.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: Whether an older copy of the folder could undo the change to somebody's advantage. Where only the rows tell,
  ///     it is false, and `body` calls ``ContainerRows/takeNumber()``.
  ///   - body: The change.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``VaultFailure/rolledBack(found:expected:)`` if the folder is an older copy.
  func change<R>(
    _ id: ContainerID, isCounted: Bool = true, _ body: (inout ContainerRows) throws -> R
  ) throws -> R {
    try changeState(isCounted: isCounted) { try change(id, &$0, body) }
  }

  private func change<R>(
    _ id: ContainerID, _ state: inout VaultState, _ body: (inout ContainerRows) throws -> R
  ) throws -> R {
    var rows = try ContainerRows(id, in: self, state)
    let result = try body(&rows)
    state = rows.newState()
    return result
  }

  /// Changes a container where nothing waits for the hardware to count: the change is done when it is on the disk.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - isCounted: As in ``change(_:isCounted:_:)``.
  ///   - body: The change.
  /// - Returns: What `body` returns, and what kept the hardware from counting up to it, if anything; who changes or opens the
  ///   vault next makes it good.
  /// - Throws: As ``change(_:isCounted:_:)``, where nothing was changed.
  func changeBeforeCounting<R>(
    _ id: ContainerID, isCounted: Bool = true, _ body: (inout ContainerRows) throws -> R
  ) throws -> (result: R, uncounted: VaultFailure?) {
    let (result, isBehind) = try commit(isCounted: isCounted) { try change(id, &$0, body) }
    guard isBehind else { return (result, nil) }
    do { try catchUpCounter() } catch { return (result, VaultFailure(error)) }
    return (result, nil)
  }

  /// Changes what belongs to no single container, or to many.
  func changeState<R>(isCounted: Bool = true, _ body: (inout VaultState) throws -> R) throws -> R {
    let (result, isBehind) = try commit(isCounted: isCounted, body)
    if isBehind { try catchUpCounter() }
    return result
  }

  /// Puts a change on the disk.
  ///
  /// - Returns: What `body` returns, and whether the hardware has to count up to what is on the disk.
  private func commit<R>(
    isCounted: Bool, _ body: (inout VaultState) throws -> R
  ) throws -> (result: R, isBehind: Bool) {
    try database.transaction {
      var state = try VaultState(from: self)
      if isCounted { try state.takeNumber(counter) }
      let result = try body(&state)
      try state.store(in: self)
      return (result, counter != nil && state.isCounted)
    }
  }

  /// Has the hardware count up to the number that is on the disk.
  ///
  /// Two processes that count at once would count past it. So whoever counts keeps the others from writing meanwhile, and
  /// counts up to what is on the disk by then.
  ///
  /// - Throws: ``VaultFailure``: `altered`, `rolledBack`; ``KeystoreFailure``, ``SQLiteFailure``.
  func catchUpCounter() throws {
    try database.transaction {
      let state = try VaultState(from: self)
      try counter?.reach(state)
    }
  }
}
