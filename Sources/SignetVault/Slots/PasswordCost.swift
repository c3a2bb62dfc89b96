public import SignetCrypto
import SignetPolicy

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The cost of password key derivation in a vault's new slots.
@nonexhaustive public enum PasswordCost: Sendable, Hashable {
  /// About this many milliseconds on this machine, measured once per process; never below ``floor``.
  case calibrated(milliseconds: Int)
  /// This exact cost.
  case fixed(Argon2id)

  /// About 250 ms.
  public static let standard = PasswordCost.calibrated(milliseconds: 250)

  /// The lowest cost that a vault uses or accepts: 19 MiB of memory and 2 passes.
  public static var floor: Argon2id { .minimum }

  /// The highest cost that a vault accepts, so that a changed file cannot keep a device busy for hours.
  public static let ceiling = Argon2id(memoryKiB: 1 << 20, passes: 64, lanes: 16)

  /// The limit of memory in KiB times passes that a server may demand of this device: 4 GiB once, or 1 GiB four times.
  private static let largestWork = 4 << 20

  /// Rejects a server's cost that would keep this device busy or use more than a quarter of its memory.
  ///
  /// - Parameters:
  ///   - cost: The cost that the server asks for.
  ///   - memoryKiB: The device's memory; every device accepts the lowest cost.
  /// - Throws: ``VaultFailure/costTooHigh(_:limit:)``.
  package static func requireAffordable(
    _ cost: Argon2id, memoryKiB: Int = Int(ProcessInfo.processInfo.physicalMemory >> 10)
  ) throws(VaultFailure) {
    let memory = min(ceiling.memoryKiB, max(floor.memoryKiB, memoryKiB / 4))
    let passes = max(floor.passes, largestWork / max(1, min(cost.memoryKiB, memory)))
    let limit = Argon2id(memoryKiB: memory, passes: min(ceiling.passes, passes), lanes: ceiling.lanes)
    guard cost.memoryKiB <= limit.memoryKiB, cost.passes <= limit.passes, cost.lanes <= limit.lanes else {
      throw .costTooHigh(cost, limit: limit)
    }
  }

  /// Returns true if each part of a cost is between `floor` and ``ceiling``.
  static func accepts(_ cost: Argon2id, floor: Argon2id) -> Bool {
    [\Argon2id.memoryKiB, \.passes, \.lanes].allSatisfy { part in
      cost[keyPath: part] >= floor[keyPath: part] && cost[keyPath: part] <= ceiling[keyPath: part]
    }
  }
}

/// Returns a password in the form for key derivation: ``OpaqueString``, which includes Unicode Normalization Form C.
package func preparedPassword(_ password: borrowing SecretBytes) throws(VaultFailure) -> SharedSecretBox {
  try DeadStack.wiped { () throws(VaultFailure) in
    try password.withTemporaryArray { typed throws(VaultFailure) in
      do throws(OpaqueStringFailure) {
        var prepared = try OpaqueString.prepare(utf8: typed)
        defer { prepared.wipe() }
        return SharedSecretBox(SecretBytes(copying: prepared))
      } catch { throw .unusablePassword(error) }
    }
  }
}
