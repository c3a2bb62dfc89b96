import SignetCrypto
package import SignetPushAuth
import SignetStorage

extension EvidenceCheck {
  /// What verifies an app's answer, and what only the server has: whoever has it could have made the answer.
  package struct SharedKey: Sendable {
    /// The key that the app and the server share.
    let key: PushAuthKey
    /// The number that the user had to choose; `nil` for none.
    let number: String?

    /// Names both.
    package init(_ key: PushAuthKey, number: String? = nil) { (self.key, self.number) = (key, number) }

    /// Opens what was kept beside the evidence of a transaction that an app has answered; `nil` for any other.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - context: The server's.
    /// - Throws: What the storage throws, `CryptoFailure` where the master key is another.
    package init?(ofTransaction id: String, _ context: ServiceContext) async throws {
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
      // It was shown to people.
      number = String(decoding: opened.insecureCopy(), as: UTF8.self)
    }
  }
}
