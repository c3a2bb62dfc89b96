package import SignetCrypto
import SignetJSON
package import SignetStorage

/// What a client is told with: kept sealed, since who knows it could ask for the tokens.
package struct BackchannelNotice: Sendable {
  /// The `auth_req_id`.
  let id: String
  /// The `client_notification_token`.
  let token: String

  /// A notice of its parts.
  package init(id: String, token: String) { (self.id, self.token) = (id, token) }

  /// Opens what a record keeps; `nil` for what is none.
  init?(_ sealed: [UInt8], of transaction: TransactionID, under key: MasterKey) {
    do {
      let text = try key.open(sealed, for: .backchannelNotice(transaction: transaction))
      let object = try JSONObject(parsing: text.insecureCopy())
      (id, token) = (try object.string("id"), try object.string("token"))
    } catch { return nil }
  }

  /// The notice under the server's master key.
  package func sealed(for transaction: TransactionID, under key: MasterKey) throws(CryptoFailure) -> [UInt8] {
    let object: JSONObject = ["id": .string(id), "token": .string(token)]
    return try key.seal(
      SecretBytes(copying: object.bytes), for: .backchannelNotice(transaction: transaction))
  }
}
