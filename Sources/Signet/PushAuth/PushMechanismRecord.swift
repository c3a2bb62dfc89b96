import SignetCrypto
import SignetJSON
import SignetPushAuth
import SignetVault

/// A push mechanism in the vault; the secret part of the record is the shared secret.
struct PushMechanismRecord {
  private static let version: UInt8 = 1

  var mechanismID: String
  var issuer: String
  var name: String
  var endpoints: PushAuthEndpoints
  var loadBalancer: String?
  var userID: String?
  var created: Int64
  /// Indicates whether the server has not accepted the current push token.
  var isUpdateDue = false
  /// The number of failed updates in a row.
  var updateAttempts: Int64 = 0
  /// The time of the next update, in seconds since 1970.
  var nextUpdate: Int64 = 0
  /// Indicates whether its server must be queried, because it sends no pushes.
  var isLive = false
  let secret: SharedSecretBox

  /// The name of the record.
  static func name(_ id: Account.ID) -> String { "push-\(id)" }

  /// The name of the record with its messages.
  static func inboxName(_ id: Account.ID) -> String { "inbox-\(id)" }

  /// The mechanism ID in a record name; `nil` for other records.
  static func id(ofRecord name: String) -> Account.ID? {
    guard name.hasPrefix("push-") else { return nil }
    return Account.ID(String(name.dropFirst("push-".count)))
  }

  var bytes: SecretBytes {
    var object: JSONObject = [
      "mechanism": .string(mechanismID), "issuer": .string(issuer), "name": .string(name),
      "registration": .string(endpoints.registration), "authentication": .string(endpoints.authentication),
      "created": .integer(created), "updateDue": .bool(isUpdateDue),
      "updateAttempts": .integer(updateAttempts), "nextUpdate": .integer(nextUpdate),
    ]
    object["loadBalancer"] = loadBalancer.map { .string($0) }
    object["userId"] = userID.map { .string($0) }
    if isLive { object["live"] = true }
    return secret.withSecret { FramedRecord.bytes(version: Self.version, json: object.bytes, secret: $0) }
  }

  init(
    mechanismID: String, issuer: String, name: String, endpoints: PushAuthEndpoints, loadBalancer: String?,
    userID: String?, created: Int64, secret: SharedSecretBox
  ) {
    self.mechanismID = mechanismID
    self.issuer = issuer
    self.name = name
    self.endpoints = endpoints
    self.loadBalancer = loadBalancer
    self.userID = userID
    self.created = created
    self.secret = secret
  }

  init(_ bytes: borrowing SecretBytes) throws(VaultFailure) {
    let framed = try FramedRecord(bytes, newest: Self.version)
    do {
      let object = try JSONObject(parsing: framed.json)
      mechanismID = try object.string("mechanism")
      (issuer, name) = (try object.string("issuer"), try object.string("name"))
      endpoints = try PushAuthEndpoints(
        registration: object.string("registration"), authentication: object.string("authentication"))
      loadBalancer = try object.optionalString("loadBalancer")
      userID = try object.optionalString("userId")
      created = try object.integer("created")
      isUpdateDue = try object.bool("updateDue")
      updateAttempts = try object.integer("updateAttempts")
      nextUpdate = try object.integer("nextUpdate")
      isLive = object["live"] == true
    } catch { throw .damaged }
    secret = SharedSecretBox(framed.secret.copy())
  }

  /// The HMAC key of the shared secret.
  func key() throws(PushAuthFailure) -> PushAuthKey {
    try secret.withSecret { (secret) throws(PushAuthFailure) in try PushAuthKey(secret) }
  }

  /// The HMAC key of the shared secret, with the failure as a ``SignetError``.
  func readyKey() throws(SignetError) -> PushAuthKey {
    do throws(PushAuthFailure) { return try key() } catch { throw .pushAuth(error) }
  }
}
