/// A detector of RSA keys from a broken generator (CVE-2017-15361, "Return of Coppersmith's Attack").
///
/// Modulo each small prime, such a modulus is a power of 65537. For any other modulus the probability of that is about
/// 2^-27. Source: Nemec, Sys, Svenda, Klinec, Matyas, "The Return of Coppersmith's Attack", CCS 2017, section 4.
enum ROCA {
  private static let primes = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107,
    109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
  ]

  /// Indicates whether the big-endian modulus has the fingerprint.
  static func hasFingerprint(modulus: [UInt8]) -> Bool {
    primes.allSatisfy { prime in
      let remainder = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
      var power = 1
      repeat {
        if power == remainder { return true }
        power = power * 65_537 % prime
      } while power != 1
      return false
    }
  }
}
