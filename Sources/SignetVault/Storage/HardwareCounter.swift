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
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  func requireLatest(_ state: VaultState) throws {
    let expected = try value()
    guard state.number >= expected else {
      throw VaultFailure.rolledBack(found: state.number, expected: expected)
    }
  }

  /// How far the hardware has counted.
  func value() throws(KeystoreFailure) -> UInt64 { try keystore.counterValue(name) }

  /// Has the hardware count up to a number that is on the disk.
  ///
  /// - Precondition: Called in a transaction that keeps others from counting: a step cannot be taken back.
  func reach(_ number: UInt64) throws(KeystoreFailure) {
    var value = try value()
    while value < number { value = try keystore.advanceCounter(name) }
  }
}
