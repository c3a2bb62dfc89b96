import SignetCrypto
package import SignetPushAuth
package import SignetStorage

extension EvidenceCheck {
  /// The key that verifies an app's answer.
  ///
  /// Only the app and the server have it. It must not be given to others, since its holder can forge an answer.
  package struct SharedKey: Sendable {
    /// The key that the app and the server share.
    let key: PushAuthKey
    /// The number that the user had to select; `nil` for none.
    let number: String?

    /// Creates a shared key with a number.
    package init(_ key: PushAuthKey, number: String? = nil) { (self.key, self.number) = (key, number) }

    /// Decrypts the key that is stored with a transaction; `nil` if no app has answered it.
    ///
    /// - Parameters:
    ///   - id: The id of the transaction.
    ///   - context: The server's storage and master key.
    /// - Throws: The errors of storage; `CryptoFailure` for another master key.
    package init?(ofTransaction id: TransactionID, _ context: ServiceContext) async throws {
      guard let transaction = try await context.storage.transaction(id), let app = transaction.app,
        let sealed = transaction.evidence?.sealedKey
      else { return nil }
      let secret = try context.masterKey.open(sealed, for: .pushAuthSecret(mechanism: app.mechanism))
      key = try PushAuthKey(secret)
      guard let sealedNumber = transaction.sealedNumber else {
        number = nil
        return
      }
      let opened = try context.masterKey.open(sealedNumber, for: .matchingNumber(transaction: id))
      // Not a secret: the number was shown to the user.
      number = String(decoding: opened.insecureCopy(), as: UTF8.self)
    }
  }
}
