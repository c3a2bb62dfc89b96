import SignetJSON

/// The device information for UAF servers: one for all accounts, from the first registration until the last authenticator is removed.
public struct UAFDeviceInformation: Hashable, Sendable {
  /// The name that the user gave the device, unique among the user's devices at each server.
  public let name: String
  /// The ID of this device at all servers, generated on the device.
  public let deviceID: String
  /// The push token of Firebase Cloud Messaging; `nil` for none.
  public let pushToken: String?
  /// The ID of the dispatch target at each account's server; accounts without a dispatch target are missing.
  public let dispatchTargets: [UAFAccount: String]
}

/// The information about this device for a first registration.
public struct UAFNewDevice: Hashable, Sendable {
  /// The name for display, 1 to 256 bytes.
  public var name: String
  /// The push token of Firebase Cloud Messaging; `nil` for none.
  public var pushToken: String?

  /// Creates the information.
  ///
  /// - Parameters:
  ///   - name: The name for display, 1 to 256 bytes.
  ///   - pushToken: The push token of Firebase Cloud Messaging.
  public init(name: String, pushToken: String? = nil) { (self.name, self.pushToken) = (name, pushToken) }
}

/// The stored state of this device for UAF servers, without keys.
package struct UAFDeviceState: Hashable, Sendable {
  /// An account with its dispatch target.
  package struct Account: Hashable, Sendable {
    let account: UAFAccount
    /// The number in the record names of the account's signing and decryption keys.
    let keys: Int64
    /// The ID of the dispatch target at the server; `nil` before the server has answered.
    var target: String?
    /// Indicates whether a request for a dispatch target had no answer, so the server may have a target with an unknown ID.
    var mayHaveUnknownTarget = false
  }

  let deviceID: String
  var name: String
  var pushToken: String?
  var accounts: [Account]

  init(deviceID: String, name: String, pushToken: String?) {
    self.deviceID = deviceID
    self.name = name
    self.pushToken = pushToken
    accounts = []
  }

  /// The account of a user; a user name occurs at most once.
  package subscript(username: String) -> Account? {
    get { accounts.first { $0.account.isOf(username) } }
    set {
      accounts.removeAll { $0.account.isOf(username) }
      if let newValue { accounts.append(newValue) }
    }
  }

  /// The information for apps.
  var information: UAFDeviceInformation {
    UAFDeviceInformation(
      name: name, deviceID: deviceID, pushToken: pushToken,
      dispatchTargets: Dictionary(
        accounts.compactMap { account in account.target.map { (account.account, $0) } },
        uniquingKeysWith: { first, _ in first }))
  }

  // MARK: Record format

  private static let limits = JSONLimits(maximumDepth: 4, maximumByteCount: 1 << 20)

  init(parsing text: [UInt8]) throws(JSONFailure) {
    let object = try JSONObject(parsing: text, limits: Self.limits)
    (deviceID, name) = (try object.string("deviceId"), try object.string("name"))
    pushToken = try object.optionalString("pushToken")
    accounts = []
    for case .object(let member) in try object.array("accounts") {
      let account = UAFAccount(username: try member.string("username"), server: try member.string("server"))
      accounts.append(
        Account(
          account: account, keys: try member.integer("keys"), target: try member.optionalString("target"),
          mayHaveUnknownTarget: try member.optionalBool("unknownTarget") ?? false))
    }
  }

  var bytes: [UInt8] {
    var object: JSONObject = ["deviceId": .string(deviceID), "name": .string(name)]
    if let pushToken { object["pushToken"] = .string(pushToken) }
    object["accounts"] = .array(
      accounts.map { account in
        var member: JSONObject = [
          "username": .string(account.account.username), "server": .string(account.account.server),
          "keys": .integer(account.keys),
        ]
        if let target = account.target { member["target"] = .string(target) }
        if account.mayHaveUnknownTarget { member["unknownTarget"] = true }
        return .object(member)
      })
    return object.bytes
  }
}
