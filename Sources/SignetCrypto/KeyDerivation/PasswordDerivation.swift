/// The derivation of 32 bytes from a password or an invite: Argon2id, unless a test counts or shortens it.
package struct PasswordDerivation: Sendable {
  package typealias Derive =
    @Sendable (_ password: borrowing SecretBytes, _ salt: [UInt8], _ cost: Argon2id) throws(CryptoFailure) ->
    SecretBytes

  package let derive: Derive

  package init(_ derive: @escaping Derive) { self.derive = derive }

  /// Argon2id with 32 bytes of output.
  package static let argon2id = PasswordDerivation { (password, salt, cost) throws(CryptoFailure) in
    try cost.derive(password: password, salt: salt, byteCount: 32)
  }
}
