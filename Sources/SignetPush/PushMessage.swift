/// The content of a push: a ciphertext for the device, and the data that the services need.
package struct PushMessage: Hashable, Sendable {
  /// The payload, encrypted to the device: a compact JWE in ASCII.
  package let envelope: String
  /// The name under which a later message replaces an undelivered one: 1 to 32 characters from `A-Z a-z 0-9 _ -` (RFC 8030
  /// section 5.4).
  package let topic: String
  /// The time of expiry, in seconds since 1970.
  package let expires: Int64
  /// The data of a Firebase message: the envelope as `signet`, unless the app expects other members.
  package let data: [String: String]
  /// The members of `aps` for Apple's service that replace Signet's own; empty to use Signet's.
  package let notification: [String: String]

  /// Creates a message.
  ///
  /// - Parameters:
  ///   - envelope: A compact JWE.
  ///   - topic: 1 to 32 characters from `A-Z a-z 0-9 _ -`.
  ///   - expires: The time of expiry, in seconds since 1970.
  ///   - data: The members of Firebase's data, for an app that reads others than `signet`.
  ///   - notification: The members of Apple's `aps`, for an app that reads others than `signet`.
  /// - Precondition: The topic has that form, and the envelope is visible ASCII.
  package init(
    envelope: String, topic: String, expires: Int64, data: [String: String]? = nil,
    notification: [String: String] = [:]
  ) {
    precondition(
      (1...32).contains(topic.utf8.count) && topic.utf8.allSatisfy(Self.isTopicCharacter),
      "\"\(topic)\" is not a topic of a push")
    precondition(envelope.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an envelope is visible ASCII")
    self.envelope = envelope
    self.topic = topic
    self.expires = expires
    self.data = data ?? ["signet": envelope]
    self.notification = notification
  }

  private static func isTopicCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
