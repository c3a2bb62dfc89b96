public import SignetCrypto
public import SignetVault
import Synchronization

/// Simulated hardware that seals, limits guesses and counts like a chip, and that a test can break.
///
/// It reports itself as a TPM, so that a vault treats it as hardware; its data is in the memory of the test process.
public final class SimulatedHardware: GuessLimitingKeystore, CountingKeystore {
  private struct Limit: Sendable {
    let limit: Int
    var failedCount = 0
  }

  private struct Values: Sendable {
    var key = SharedSecretBox(.random(byteCount: 32))
    var limits: [[UInt8]: Limit] = [:]
    var counters: [[UInt8]: UInt64] = [:]
    var highestCount: UInt64 = 100
    var failures: [KeystoreFailure] = []
    var failingCalls: Calls = []
    var interruption: (@Sendable () -> Void)?
  }

  /// A set of keystore calls.
  public struct Calls: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Sealing, with and without a limit.
    public static let sealing = Calls(rawValue: 1)
    /// Opening, with and without a limit.
    public static let unsealing = Calls(rawValue: 2)
    /// Reading and advancing counters.
    public static let counting = Calls(rawValue: 4)
    /// Releasing locations.
    public static let discarding = Calls(rawValue: 8)
  }

  private static let nameByteCount = 8
  private let values = Mutex(Values())

  /// Creates empty hardware.
  public init() {}

  /// The kind that the vault sees: a TPM.
  public var kind: KeystoreKind { .tpm2 }

  /// The number of locations used by limits and counters.
  public var locationCount: Int { values.withLock { $0.limits.count + $0.counters.count } }

  /// Makes the next of some calls fail, in this order.
  public func fail(_ calls: Calls, with failures: KeystoreFailure...) {
    values.withLock { ($0.failingCalls, $0.failures) = (calls, $0.failures + failures) }
  }

  /// Runs `body` once, before the next counter step, to simulate another process at that moment.
  public func interruptCounting(_ body: @escaping @Sendable () -> Void) {
    values.withLock { $0.interruption = body }
  }

  /// Erases everything, like a cleared chip.
  public func clear() { values.withLock { $0 = Values() } }

  /// Erases only the limits.
  public func clearLimits() { values.withLock { $0.limits = [:] } }

  /// Seals under a key that exists only in this instance.
  public func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    try fails(.sealing)
    return [1] + (try encrypt(secret, context: context))
  }

  /// Unseals a secret that was sealed without a limit.
  ///
  /// - Throws: ``KeystoreFailure/refused``, and the failure that the test set.
  public func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    try fails(.unsealing)
    guard blob.first == 1 else { throw .refused }
    return try decrypt(Array(blob.dropFirst()), context: context)
  }

  /// Returns a free location.
  public func chooseLocation() throws(KeystoreFailure) -> [UInt8] {
    [2] + SecureRandom.bytes(Self.nameByteCount)
  }

  /// Seals with a limit, which uses a location.
  public func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
    at location: [UInt8]
  ) throws(KeystoreFailure) -> [UInt8] {
    try fails(.sealing)
    let name = Array(location.dropFirst())
    let content = authorization.joined(with: secret)
    let sealed = try encrypt(content, context: context + name)
    values.withLock { $0.limits[name] = Limit(limit: limit) }
    return [2] + name + sealed
  }

  /// Compares the authorization and counts the guess in one step.
  ///
  /// - Throws: ``KeystoreFailure/countGone``, ``KeystoreFailure/refused``, and the failure that the test set.
  public func unseal(
    _ blob: [UInt8], context: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> GuessOutcome {
    try fails(.unsealing)
    let name = try limitName(blob)
    let content = try decrypt(Array(blob.dropFirst(1 + Self.nameByteCount)), context: context + name)
    let (expected, secret) = content.withBytes { bytes in
      (
        SharedSecretBox(SecretBytes(copying: bytes.extracting(first: authorization.byteCount))),
        SharedSecretBox(SecretBytes(copying: bytes.extracting(droppingFirst: authorization.byteCount)))
      )
    }
    let isCorrect = expected.withSecret { $0.isEqual(to: authorization) }
    let remaining: Int? = values.withLock { values in
      guard let limit = values.limits[name], limit.failedCount < limit.limit else { return nil }
      values.limits[name]?.failedCount = isCorrect ? 0 : limit.failedCount + 1
      return limit.limit - limit.failedCount - 1
    }
    guard let remaining else { return .lockedOut }
    return isCorrect ? .opened(secret.withSecret { $0.copy() }) : .wrong(remaining: remaining)
  }

  /// Returns the number of guesses left.
  ///
  /// - Throws: ``KeystoreFailure/countGone``, and the failure that the test set.
  public func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int {
    try fails(.unsealing)
    let name = try limitName(blob)
    return values.withLock { $0.limits[name].map { $0.limit - $0.failedCount } ?? 0 }
  }

  /// Creates a counter with a value above all earlier ones; it uses a location.
  public func makeCounter() throws(KeystoreFailure) -> [UInt8] {
    try fails(.counting)
    let name = SecureRandom.bytes(Self.nameByteCount)
    values.withLock { values in
      values.highestCount += 1
      values.counters[name] = values.highestCount
    }
    return [3] + name
  }

  /// Returns the value of a counter.
  ///
  /// - Throws: ``KeystoreFailure/countGone``, and the failure that the test set.
  public func counterValue(_ blob: [UInt8]) throws(KeystoreFailure) -> UInt64 {
    try fails(.counting)
    guard let value = values.withLock({ $0.counters[Array(blob.dropFirst())] }) else { throw .countGone }
    return value
  }

  /// Advances a counter by one.
  ///
  /// - Throws: ``KeystoreFailure/countGone``, and the failure that the test set.
  public func advanceCounter(_ blob: [UInt8]) throws(KeystoreFailure) {
    try fails(.counting)
    let interruption = values.withLock { values in
      defer { values.interruption = nil }
      return values.interruption
    }
    interruption?()
    let name = Array(blob.dropFirst())
    let exists = values.withLock { values in
      guard let value = values.counters[name] else { return false }
      values.counters[name] = value + 1
      values.highestCount = max(values.highestCount, value + 1)
      return true
    }
    guard exists else { throw .countGone }
  }

  /// Releases a location.
  ///
  /// - Throws: The failure that the test set.
  public func discard(_ blob: [UInt8]) throws(KeystoreFailure) {
    try fails(.discarding)
    let name = Array(blob.dropFirst().prefix(Self.nameByteCount))
    values.withLock { values in
      values.limits[name] = nil
      values.counters[name] = nil
    }
  }

  private func limitName(_ blob: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    guard blob.first == 2, blob.count > 1 + Self.nameByteCount else { throw .refused }
    let name = Array(blob[1...Self.nameByteCount])
    guard values.withLock({ $0.limits[name] != nil }) else { throw .countGone }
    return name
  }

  private func fails(_ call: Calls) throws(KeystoreFailure) {
    let failure = values.withLock { values in
      values.failingCalls.contains(call) && !values.failures.isEmpty ? values.failures.removeFirst() : nil
    }
    if let failure { throw failure }
  }

  private func encrypt(
    _ secret: borrowing SecretBytes, context: [UInt8]
  ) throws(KeystoreFailure) -> [UInt8] {
    let key = values.withLock { $0.key }
    do {
      return try key.withSecret { try AESGCM.sealCombined(secret, key: $0, additionalData: context) }
    } catch { throw .refused }
  }

  private func decrypt(_ sealed: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    let key = values.withLock { $0.key }
    do {
      return try key.withSecret { try AESGCM.openCombined(sealed, key: $0, additionalData: context) }
    } catch { throw .refused }
  }
}
