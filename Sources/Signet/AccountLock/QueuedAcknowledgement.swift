import SignetJSON
import SignetProtocol
import SignetVault

/// The acknowledgement of an operator's command that waits for delivery; the vault stores it with the end notices.
struct QueuedAcknowledgement: QueuedMessage, Sendable {
  /// The number of the notice on this device.
  let id: Int64
  /// The server, as `host[:port]/domain`.
  let server: String
  /// The compact JWS.
  let jws: String
  /// The creation time, in seconds since 1970.
  let created: Int64
  /// The earliest time of the next attempt, in seconds since 1970.
  let nextAttempt: Int64
  /// The pins and authorities for the connection to the server.
  let connection: ServerTrust

  /// The body of the request.
  var body: [UInt8] { JSONObject(dictionaryLiteral: ("receipt", .string(jws))).bytes }

  /// Indicates whether the acknowledgement has expired, after the lifetime of end notices.
  func isExpired(at now: Int64) -> Bool { now >= created + QueuedNotice.lifetime }

  /// Creates the notice that the vault stores.
  static func draft(_ jws: String, of container: StoredContainer, at now: Int64) -> NoticeDraft {
    let attributes = container.attributes
    var object: JSONObject = ["receipt": .string(jws), "created": .integer(now)]
    object.append(attributes.connection)
    return NoticeDraft(server: attributes.server, notBefore: now, bytes: object.bytes)
  }

  /// Parses an authenticated notice of the vault; `nil` if it is not an acknowledgement.
  init?(_ stored: Notice) {
    do {
      let object = try JSONObject(parsing: stored.bytes, limits: JSONLimits(maximumByteCount: 2 << 20))
      (jws, created) = (try object.string("receipt"), try object.integer("created"))
      connection = try object.serverTrust()
    } catch { return nil }
    id = stored.id
    server = stored.server
    nextAttempt = stored.notBefore
  }
}
