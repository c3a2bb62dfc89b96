public import SignetPush

/// The services that deliver a server's pushes.
public struct PushSetup: Sendable {
  /// The delivery of messages.
  public var delivery: PushDelivery
  /// The public key with which devices subscribe to Web Push, X9.63; `nil` if Web Push is not configured.
  public var webPushKey: [UInt8]?

  /// No service; devices poll.
  public static let none = PushSetup(delivery: PushDelivery([]))

  /// Creates a setup.
  public init(delivery: PushDelivery, webPushKey: [UInt8]? = nil) {
    (self.delivery, self.webPushKey) = (delivery, webPushKey)
  }
}
