package import SignetCrypto

extension Argon2id {
  /// A cost far below every floor, for tests that are not about costs: such a derivation takes no time.
  package static let insecureForTests = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
}

extension PasswordDerivation {
  /// Argon2id at ``SignetCrypto/Argon2id/insecureForTests``, whatever cost is asked for.
  package static let insecureForTests = PasswordDerivation { (password, salt, _) throws(CryptoFailure) in
    try argon2id.derive(password, salt, .insecureForTests)
  }
}
