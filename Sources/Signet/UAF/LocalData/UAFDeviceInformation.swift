/// What this device is to UAF servers: one for all accounts, from the first registration to the last authenticator.
public struct UAFDeviceInformation: Hashable, Sendable {
  /// What the user calls this device; unique among the user's devices at each server.
  public let name: String
  /// What names this device at all servers, made here once.
  public let deviceID: String
  /// Where pushes of Firebase Cloud Messaging go; `nil` for none.
  public let pushToken: String?
  /// What each account's server calls this device; an account without has not got that far.
  public let dispatchTargets: [UAFAccount: String]
}

/// What a first registration says of this device.
public struct UAFNewDevice: Hashable, Sendable {
  /// What the user calls it: 1 to 256 bytes.
  public var name: String
  /// Where pushes of Firebase Cloud Messaging go; `nil` for none.
  public var pushToken: String?

  /// Describes the device.
  ///
  /// - Parameters:
  ///   - name: What the user calls it: 1 to 256 bytes.
  ///   - pushToken: Where pushes of Firebase Cloud Messaging go.
  public init(name: String, pushToken: String? = nil) { (self.name, self.pushToken) = (name, pushToken) }
}
