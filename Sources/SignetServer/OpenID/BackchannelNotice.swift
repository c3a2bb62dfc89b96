package import SignetCrypto
import SignetJSON
package import SignetStorage

/// The id and bearer token for a notice to a client, stored encrypted because the id allows token requests.
package struct BackchannelNotice: Sendable {
  /// The `auth_req_id`.
  let id: String
  /// The `client_notification_token`.
  let token: String

  package init(id: String, token: String) { (self.id, self.token) = (id, token) }

  /// Decrypts a stored notice; returns `nil` if that fails.
  init?(_ sealed: [UInt8], of transaction: TransactionID, under key: MasterKey) {
    do {
      let text = try key.open(sealed, for: .backchannelNotice(transaction: transaction))
      let object = try JSONObject(parsing: text.insecureCopy())
      (id, token) = (try object.string("id"), try object.string("token"))
    } catch { return nil }
  }

  /// Encrypts the notice under the server's master key.
  package func sealed(for transaction: TransactionID, under key: MasterKey) throws(CryptoFailure) -> [UInt8] {
    let object: JSONObject = ["id": .string(id), "token": .string(token)]
    return try key.seal(
      SecretBytes(copying: object.bytes), for: .backchannelNotice(transaction: transaction))
  }
}
