public import SignetCrypto
import SignetPolicy

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What deriving a key from a password costs in the slots that a vault makes.
@nonexhaustive public enum PasswordCost: Sendable, Hashable {
  /// About this many milliseconds on this machine, measured once a process; never below ``floor``.
  case calibrated(milliseconds: Int)
  /// This cost.
  case fixed(Argon2id)

  /// About 250 ms.
  public static let standard = PasswordCost.calibrated(milliseconds: 250)

  /// The least cost that a vault makes or opens: 19 MiB of memory and 2 passes.
  public static var floor: Argon2id { .minimum }

  /// The highest cost that a vault opens, so that a changed file cannot make a device work for hours.
  public static let ceiling = Argon2id(memoryKiB: 1 << 20, passes: 64, lanes: 16)

  /// The most memory and passes together that this device gives to somebody else's wish: 4 GiB once, or 1 GiB four times.
  private static let largestWork = 4 << 20

  /// Refuses a cost that a server asks for and that would keep this device busy, or take more than a quarter of its memory.
  ///
  /// - Parameters:
  ///   - cost: What is asked for.
  ///   - memoryKiB: The memory of the device; the least cost is given by every device.
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

  /// Whether no part of a cost is below `floor` or above ``ceiling``.
  static func accepts(_ cost: Argon2id, floor: Argon2id) -> Bool {
    [\Argon2id.memoryKiB, \.passes, \.lanes].allSatisfy { part in
      cost[keyPath: part] >= floor[keyPath: part] && cost[keyPath: part] <= ceiling[keyPath: part]
    }
  }
}

/// A password in the one form that keys are derived from: ``OpaqueString``, which includes Unicode Normalization Form C.
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
