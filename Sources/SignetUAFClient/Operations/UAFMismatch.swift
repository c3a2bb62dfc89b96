/// A difference between the data of a server and of this device.
public enum UAFMismatch: Hashable, Sendable, CustomStringConvertible {
  /// The server has a key of this device that this device does not have.
  case missingAuthenticatorInMobileDevice(UAFAccount, aaid: String, keyID: String)
  /// This device has a key that the server does not know.
  case missingAuthenticatorInServer(UAFAccount, aaid: String, keyID: String)
  /// The server has a dispatch target for this device that the device does not use.
  case missingDeviceInformationInMobileDevice(UAFAccount, dispatchTarget: String)
  /// The server does not have the dispatch target that this device uses; `nil` if the device has none.
  case missingDeviceInformationInServer(UAFAccount, dispatchTarget: String?)
  /// The server has another name for this device.
  case deviceName(UAFAccount, dispatchTarget: String, onDevice: String, inServer: String)
  /// The server has another push token; `nil` for none.
  case pushToken(UAFAccount, dispatchTarget: String, onDevice: String?, inServer: String?)

  /// The account that the difference belongs to.
  public var account: UAFAccount {
    switch self {
    case .missingAuthenticatorInMobileDevice(let account, _, _),
      .missingAuthenticatorInServer(let account, _, _),
      .missingDeviceInformationInMobileDevice(let account, _),
      .missingDeviceInformationInServer(let account, _), .deviceName(let account, _, _, _),
      .pushToken(let account, _, _, _):
      account
    }
  }

  /// The difference, without any push token.
  public var description: String {
    switch self {
    case .missingAuthenticatorInMobileDevice(_, let aaid, _):
      "the server has a key of the authenticator \(aaid) that is not on this device"
    case .missingAuthenticatorInServer(_, let aaid, _):
      "this device has a key of the authenticator \(aaid) that the server does not know"
    case .missingDeviceInformationInMobileDevice:
      "the server has a dispatch target of this device that is not in use"
    case .missingDeviceInformationInServer: "the server does not know this device"
    case .deviceName(_, _, let local, let remote): "the server calls this device “\(remote)”, not “\(local)”"
    case .pushToken: "the server sends pushes to another token"
    }
  }
}

/// The result of a comparison with all servers.
public struct UAFDeviceCheck: Sendable {
  /// The differences.
  public let mismatches: [UAFMismatch]
  /// The failures of servers that could not be queried.
  public let errors: [UAFDeviceServiceFailure]

  /// Creates a result, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - mismatches: The differences.
  ///   - errors: The failures of servers that could not be queried.
  public init(mismatches: [UAFMismatch], errors: [UAFDeviceServiceFailure]) {
    self.mismatches = mismatches
    self.errors = errors
  }
}
