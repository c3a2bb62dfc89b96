public import SignetPush

/// The services that carry a server's pushes.
public struct PushSetup: Sendable {
  /// Hands messages over.
  public var delivery: PushDelivery
  /// The public key with which devices subscribe to Web Push, X9.63; `nil` where that is not set up.
  public var webPushKey: [UInt8]?

  /// No service: devices ask by themselves.
  public static let none = PushSetup(delivery: PushDelivery([]))

  /// Puts services together.
  public init(delivery: PushDelivery, webPushKey: [UInt8]? = nil) {
    (self.delivery, self.webPushKey) = (delivery, webPushKey)
  }
}
