/// Something that a server and this device do not know alike.
public enum UAFMismatch: Hashable, Sendable, CustomStringConvertible {
  /// The server has a key of this device that this device does not have.
  case missingAuthenticatorInMobileDevice(UAFAccount, aaid: String, keyID: String)
  /// This device has a key that the server does not know.
  case missingAuthenticatorInServer(UAFAccount, aaid: String, keyID: String)
  /// The server knows this device by a target that it does not use.
  case missingDeviceInformationInMobileDevice(UAFAccount, dispatchTarget: String)
  /// The server does not know this device by the target that it uses; `nil` where it never did.
  case missingDeviceInformationInServer(UAFAccount, dispatchTarget: String?)
  /// The server calls this device otherwise.
  case deviceName(UAFAccount, dispatchTarget: String, onDevice: String, inServer: String)
  /// The server sends pushes elsewhere; `nil` for nowhere.
  case pushToken(UAFAccount, dispatchTarget: String, onDevice: String?, inServer: String?)

  /// Whose it is.
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

  /// What differs; never where pushes go.
  public var description: String {
    switch self {
    case .missingAuthenticatorInMobileDevice(_, let aaid, _):
      "the server has a key of the authenticator \(aaid) that is not on this device"
    case .missingAuthenticatorInServer(_, let aaid, _):
      "this device has a key of the authenticator \(aaid) that the server does not know"
    case .missingDeviceInformationInMobileDevice:
      "the server knows this device by a target that it does not use"
    case .missingDeviceInformationInServer: "the server does not know this device"
    case .deviceName(_, _, let own, let other): "the server calls this device “\(other)”, not “\(own)”"
    case .pushToken: "the server sends pushes elsewhere"
    }
  }
}

/// What a comparison with all servers has come to.
public struct UAFDeviceCheck: Sendable {
  /// What is not known alike.
  public let mismatches: [UAFMismatch]
  /// Why servers could not be asked.
  public let errors: [UAFDeviceServiceFailure]

  /// Puts both together; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - mismatches: What is not known alike.
  ///   - errors: Why servers could not be asked.
  public init(mismatches: [UAFMismatch], errors: [UAFDeviceServiceFailure]) {
    (self.mismatches, self.errors) = (mismatches, errors)
  }
}
