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
