/// The counter in the hardware that an older copy of the folder is behind.
///
/// Every change that an older copy could undo to somebody's advantage takes the next number: counting an attempt, changing a
/// slot, adding or deleting a container. First the change and its number are on the disk, then the hardware counts, and only
/// then is anything done that the change allows, such as trying a password. So a number above the hardware's is a change that
/// was cut off, and a number below is an older copy.
struct HardwareCounter {
  let keystore: any CountingKeystore
  /// What names the counter in the hardware; authenticated in the vault's row.
  let name: [UInt8]

  /// `nil` where the keystore does not count, or the vault was made when it did not.
  init?(_ keystore: any HardwareKeystore, name: [UInt8]?) {
    guard let counting = keystore as? any CountingKeystore, let name else { return nil }
    (self.keystore, self.name) = (counting, name)
  }

  /// Refuses the state of an older copy.
  ///
  /// - Precondition: Called in a transaction that keeps others from writing: the hardware never counts ahead of the disk.
  /// - Returns: How far the hardware has counted: the state's number, or less where a change was cut off.
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  @discardableResult func requireLatest(_ state: VaultState) throws -> UInt64 {
    let expected = try keystore.counterValue(name)
    guard state.number >= expected else {
      throw VaultFailure.rolledBack(found: state.number, expected: expected)
    }
    return expected
  }

  /// Has the hardware count up to the number of a state that is on the disk.
  ///
  /// What the hardware says is asked once: nobody else counts meanwhile, and each step that it confirms is one.
  ///
  /// - Precondition: Called in a transaction that keeps others from counting: a step cannot be taken back.
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  func reach(_ state: VaultState) throws {
    for _ in try requireLatest(state)..<state.number { try keystore.advanceCounter(name) }
  }
}
