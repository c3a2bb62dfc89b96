public import SignetPush

/// The services that carry a server's pushes.
public struct PushSetup: Sendable {
  /// Hands messages over.
  public var delivery: PushDelivery
  /// The public key with which devices subscribe to Web Push, X9.63; `nil` where that is not set up.
  public var webPushKey: [UInt8]?

  /// Which hosts of Web Push are sent to; targets at others are refused.
  public var webPushHosts: WebPushHosts

  /// No service: devices ask by themselves.
  public static let none = PushSetup(delivery: PushDelivery([]))

  /// Puts services together.
  public init(
    delivery: PushDelivery, webPushKey: [UInt8]? = nil, webPushHosts: WebPushHosts = .browsers
  ) {
    (self.delivery, self.webPushKey, self.webPushHosts) = (delivery, webPushKey, webPushHosts)
  }
}
