import SignetJSON
public import SignetProtocol
import SignetVault

/// A notice of the end of a container on this device that waits for delivery to its server.
///
/// It was signed before the keys were deleted. It contains no secret, and can only end this container.
public struct QueuedNotice: QueuedMessage, Sendable, Hashable, Identifiable {
  /// The number of the notice on this device.
  public let id: Int64
  /// The user of the container.
  public let user: String
  /// The server, as `host[:port]/domain`.
  public let server: String
  /// The way in which the container ended.
  public let event: EndNotice.Event
  /// The time of the end, in seconds since 1970.
  public let created: Int64
  /// The earliest time of the next attempt, in seconds since 1970.
  public let nextAttempt: Int64
  /// The compact JWS.
  let message: String
  /// The pins and authorities for the connection to the server.
  let connection: ServerTrust

  /// The lifetime of a notice in seconds, 90 days.
  public static let lifetime: Int64 = 90 * 86_400
  /// The minimum wait after a failed attempt, in seconds (one minute).
  static let shortestWait: Int64 = 60
  /// The maximum wait after a failed attempt, in seconds (one day).
  static let longestWait: Int64 = 86_400

  /// The time at which the notice expires, in seconds since 1970.
  public var expires: Int64 { created + Self.lifetime }

  /// Creates the notice that the vault stores.
  static func draft(
    _ message: String, _ event: EndNotice.Event, of container: StoredContainer, at now: Int64
  ) -> NoticeDraft {
    let attributes = container.attributes
    var object: JSONObject = [
      "notice": .string(message), "event": .string(event.rawValue), "user": .string(attributes.userID),
      "created": .integer(now),
    ]
    object.append(attributes.connection)
    return NoticeDraft(server: attributes.server, notBefore: now, bytes: JSONValue.object(object).bytes)
  }

  /// Parses an authenticated notice of the vault; `nil` for one of a newer version.
  init?(_ stored: Notice) {
    do {
      let object = try JSONObject(
        parsing: stored.bytes, limits: JSONLimits(maximumByteCount: 2 << 20))
      guard let event = EndNotice.Event(rawValue: try object.string("event")) else { return nil }
      (message, user) = (try object.string("notice"), try object.string("user"))
      (self.event, created) = (event, try object.integer("created"))
      connection = try object.serverTrust()
    } catch { return nil }
    id = stored.id
    server = stored.server
    nextAttempt = stored.notBefore
  }

  /// The server's ID of the container; `nil` if the notice cannot be parsed.
  public var serverContainerID: ContainerID? {
    do { return try SignedEndNotice(parsing: body).container } catch { return nil }
  }

  /// The body of the request.
  var body: [UInt8] { JSONValue.object(["notice": .string(message)]).bytes }
}

/// The state of the notice that tells a server about the end of a container.
@nonexhaustive public enum NoticeOutcome: Sendable, Hashable {
  /// The server has received it, or does not know the container.
  case delivered
  /// Delivery failed; ``Device/sendQueuedNotices(evenIfEarly:)`` retries it.
  case queued(SignetError)
  /// There is no notice, because the container's keys could not sign; the operator must revoke the container at the server.
  case undeliverable(SignetError)
}

/// The results of a delivery of queued notices.
public struct NoticeReport: Sendable, Hashable {
  /// The notices that servers have received now.
  public internal(set) var delivered: [QueuedNotice] = []
  /// The notices that stay queued, in their state before this attempt.
  public internal(set) var waiting: [Waiting] = []
  /// The notices that expired and were deleted; the operator must revoke these containers.
  public internal(set) var expired: [QueuedNotice] = []

  /// A notice that stays queued.
  public struct Waiting: Sendable, Hashable {
    /// The notice.
    public let notice: QueuedNotice
    /// The failure of this attempt; `nil` if the next attempt was not due yet.
    public let failure: SignetError?
  }

  /// Indicates whether there were no notices.
  public var isEmpty: Bool { delivered.isEmpty && waiting.isEmpty && expired.isEmpty }
}

/// The result of a factory reset.
public struct ResetReport: Sendable, Hashable {
  /// The results of the notices to servers.
  public let notices: NoticeReport
  /// The containers that could not sign a notice; their operators must revoke them.
  public let undeliverable: [UnreportedContainer]
  /// Indicates whether everything was erased; otherwise only notices are left.
  public let isErased: Bool
}
