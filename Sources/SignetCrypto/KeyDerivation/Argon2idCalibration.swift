extension Argon2id {
  /// Measures a cost that takes about `milliseconds` (1 to 60,000) on this machine, and is never below ``minimum``.
  ///
  /// Memory is increased first, because memory is what an attacker's hardware lacks, then the passes. One lane: a device
  /// unlocks on one core, and more lanes help an attacker just as much. A machine that is too slow gets ``minimum``.
  ///
  /// - Throws: ``CryptoFailure/parameterOutOfRange(_:_:allowed:)``, ``CryptoFailure/outOfMemory``.
  public static func calibrated(milliseconds: Int) throws -> Argon2id {
    let clock = ContinuousClock()
    let password = SecretBytes(copying: [UInt8](repeating: 0x70, count: 16))
    let salt = [UInt8](repeating: 0x73, count: 16)
    return try calibrated(milliseconds: milliseconds) { (cost) throws(CryptoFailure) in
      let start = clock.now
      _ = try cost.derive(password: password, salt: salt, byteCount: 32)
      return start.duration(to: clock.now)
    }
  }

  /// Calibrates with the results of `measure`, so that a test needs no clock.
  package static func calibrated(
    milliseconds: Int, measure: (Argon2id) throws(CryptoFailure) -> Duration
  ) throws(CryptoFailure) -> Argon2id {
    try CryptoFailure.require(milliseconds, in: 1...60_000, .milliseconds)
    let target = Duration.milliseconds(milliseconds)
    var elapsed = try measure(minimum)
    // The first derivation touches fresh pages and is too slow, so the faster of two is the steady cost. If the first one
    // took 16 times the target, the second is assumed to exceed the target too.
    if elapsed / target >= 16 { return minimum }
    elapsed = try min(elapsed, measure(minimum))
    var work = target / max(elapsed, .microseconds(1))
    var cost = minimum.multiplied(by: work)
    // Memory beyond the caches costs more per KiB, so the estimate is measured and corrected.
    for _ in 0..<2 where cost != minimum {
      elapsed = try measure(cost)
      let ratio = target / max(elapsed, .microseconds(1))
      if (0.8...1.25).contains(ratio) { break }
      work *= ratio
      cost = minimum.multiplied(by: work)
    }
    return cost
  }

  /// Returns a cost of about `work` times this one: first more memory up to the limit, then more passes; never less.
  private func multiplied(by work: Double) -> Argon2id {
    var cost = self
    cost.memoryKiB = min(
      max(memoryKiB, Int(Double(memoryKiB) * min(work, 1000))), Self.calibratedMemoryLimitKiB)
    let remaining = work * Double(memoryKiB) / Double(cost.memoryKiB)
    cost.passes = min(max(passes, Int(Double(passes) * min(remaining, 32))), 64)
    return cost
  }

  /// The largest memory that calibration chooses, 256 MiB: with more, the system might terminate an app.
  package static var calibratedMemoryLimitKiB: Int { 256 * 1024 }
}
