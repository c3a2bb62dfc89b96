package import SignetCrypto

extension Argon2id {
  /// A cost far below every minimum, for tests that do not concern costs: the derivation is fast.
  package static let insecureForTests = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
}

extension PasswordDerivation {
  /// Argon2id with ``SignetCrypto/Argon2id/insecureForTests``; the requested cost is ignored.
  package static let insecureForTests = PasswordDerivation { (password, salt, _) throws(CryptoFailure) in
    try argon2id.derive(password, salt, .insecureForTests)
  }
}
