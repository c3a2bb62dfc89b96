/// The hardware counter that detects an older copy of the folder.
///
/// A change that a rollback could undo to an attacker's advantage advances the state number. Examples are counting an
/// attempt, changing a slot, and adding or deleting a container. The order is: write the change with its number to the disk,
/// advance the hardware counter, then act on the change, such as trying a password. So a state number above the hardware's
/// belongs to an interrupted change, and a number below it belongs to an older copy.
struct HardwareCounter {
  let keystore: any CountingKeystore
  /// The blob that names the counter in the hardware; the vault's row authenticates it.
  let name: [UInt8]

  /// `nil` if the keystore does not count, or did not count when the vault was made.
  init?(_ keystore: any HardwareKeystore, name: [UInt8]?) {
    guard let counting = keystore as? any CountingKeystore, let name else { return nil }
    (self.keystore, self.name) = (counting, name)
  }

  /// Rejects the state of an older copy.
  ///
  /// - Precondition: Called in a transaction that excludes other writers: the hardware counter never exceeds the number on
  ///   the disk.
  /// - Returns: The hardware counter's value: the state number, or less if a change was interrupted.
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  @discardableResult func requireLatest(_ state: VaultState) throws -> UInt64 {
    let expected = try keystore.counterValue(name)
    guard state.number >= expected else {
      throw VaultFailure.rolledBack(found: state.number, expected: expected)
    }
    return expected
  }

  /// Advances the hardware counter to the number of a state that is on the disk.
  ///
  /// It reads the hardware counter once: no other process counts meanwhile, and each confirmed step adds one.
  ///
  /// - Precondition: Called in a transaction that excludes other counting processes, because a step cannot be undone.
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  func reach(_ state: VaultState) throws {
    for _ in try requireLatest(state)..<state.number { try keystore.advanceCounter(name) }
  }
}
