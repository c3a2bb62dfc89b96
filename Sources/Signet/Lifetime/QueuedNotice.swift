import SignetCrypto
import SignetJSON
import SignetVault
public import SignetWire

/// That a container has ended on this device, and its server has not heard of it yet.
///
/// It was signed before the keys went. It holds no secret, and is good for ending this container and for nothing else.
public struct QueuedNotice: Sendable, Hashable, Identifiable {
  /// Its number on this device.
  public let id: Int64
  /// Whose container it was.
  public let user: String
  /// Where it was good: `host[:port]/domain`.
  public let server: String
  /// How it ended.
  public let event: EndNotice.Event
  /// When it ended, in seconds since 1970.
  public let created: Int64
  /// When the server is tried again, in seconds since 1970, at the earliest.
  public let nextAttempt: Int64
  /// The JWS.
  let message: String
  /// How the server is reached.
  let connection: ConnectionSettings

  /// For how long the server is tried, in seconds: 90 days.
  public static let lifetime: Int64 = 90 * 86_400
  /// The shortest wait after an attempt that failed, in seconds: a minute.
  static let shortestWait: Int64 = 60
  /// The longest, in seconds: a day.
  static let longestWait: Int64 = 86_400

  /// When it is given up, in seconds since 1970.
  public var expires: Int64 { created + Self.lifetime }

  /// Whether the server is to be tried now.
  ///
  /// A clock that was set back does not keep a notice from being sent.
  func isDue(at now: Int64) -> Bool { now >= nextAttempt || nextAttempt - now > Self.longestWait }

  /// When to try again after an attempt that failed now: as long from now as it has waited so far.
  func retry(after now: Int64) -> Int64 {
    now + min(max(now - created, Self.shortestWait), Self.longestWait)
  }

  /// What the vault keeps.
  static func draft(
    _ message: String, _ event: EndNotice.Event, of container: SignetVault.Container, at now: Int64
  ) -> NoticeDraft {
    let attributes = container.attributes
    var object: JSONObject = [
      "notice": .string(message), "event": .string(event.rawValue), "user": .string(attributes.userID),
      "created": .integer(now),
      "pins": .array(attributes.connection.pins.map { .string(Base64URL.encode($0)) }),
    ]
    if let authorities = attributes.connection.certificateAuthoritiesPEM {
      object["authorities"] = .string(authorities)
    }
    return NoticeDraft(server: attributes.server, notBefore: now, bytes: JSONValue.object(object).bytes)
  }

  /// Reads what the vault keeps, which authenticates it; `nil` for what a newer version wrote.
  init?(_ stored: Notice) {
    do {
      let object = try JSONObject(
        parsing: stored.bytes, limits: JSONLimits(maximumByteCount: 2 << 20))
      guard let event = EndNotice.Event(rawValue: try object.string("event")) else { return nil }
      (message, user) = (try object.string("notice"), try object.string("user"))
      (self.event, created) = (event, try object.integer("created"))
      connection = ConnectionSettings(
        certificateAuthoritiesPEM: try object.optionalString("authorities"),
        pins: try object.strings("pins").map { try Base64URL.decode($0) })
    } catch { return nil }
    (id, server, nextAttempt) = (stored.id, stored.server, stored.notBefore)
  }

  /// Names the container at the server.
  public var serverMadeID: SignetWire.ContainerID? {
    do { return try SignedEndNotice(parsing: body).container } catch { return nil }
  }

  /// The body of the request.
  var body: [UInt8] { JSONValue.object(["notice": .string(message)]).bytes }
}
