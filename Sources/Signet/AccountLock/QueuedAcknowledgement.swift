import SignetCrypto
import SignetJSON
import SignetVault
import SignetWire

/// The acknowledgement of an operator's command that its server has not heard of yet, as the vault keeps it beside the notices of ends.
struct QueuedAcknowledgement: Sendable {
  /// Its number on this device.
  let id: Int64
  /// Where it goes: `host[:port]/domain`.
  let server: String
  /// The JWS.
  let jws: String
  /// When it was made, in seconds since 1970.
  let created: Int64
  /// When the server is tried again, in seconds since 1970, at the earliest.
  let nextAttempt: Int64
  /// How the server is reached.
  let connection: ConnectionSettings

  /// The body of the request.
  var body: [UInt8] { JSONObject(dictionaryLiteral: ("receipt", .string(jws))).bytes }

  /// Whether the server is to be tried no more: as long as for notices of ends.
  func isExpired(at now: Int64) -> Bool { now >= created + QueuedNotice.lifetime }

  /// Whether the server is to be tried now; a clock that was set back keeps nothing from being sent.
  func isDue(at now: Int64) -> Bool {
    now >= nextAttempt || nextAttempt - now > QueuedNotice.longestWait
  }

  /// When to try again after an attempt that failed now.
  func retry(after now: Int64) -> Int64 {
    now + min(max(now - created, QueuedNotice.shortestWait), QueuedNotice.longestWait)
  }

  /// What the vault keeps.
  static func draft(_ jws: String, of container: SignetVault.Container, at now: Int64) -> NoticeDraft {
    let attributes = container.attributes
    var object: JSONObject = [
      "receipt": .string(jws), "created": .integer(now),
      "pins": .array(attributes.connection.pins.map { .string(Base64URL.encode($0)) }),
    ]
    if let authorities = attributes.connection.certificateAuthoritiesPEM {
      object["authorities"] = .string(authorities)
    }
    return NoticeDraft(server: attributes.server, notBefore: now, bytes: object.bytes)
  }

  /// Reads what the vault keeps, which authenticates it; `nil` for what is no acknowledgement.
  init?(_ stored: Notice) {
    do {
      let object = try JSONObject(parsing: stored.bytes, limits: JSONLimits(maximumByteCount: 2 << 20))
      (jws, created) = (try object.string("receipt"), try object.integer("created"))
      connection = ConnectionSettings(
        certificateAuthoritiesPEM: try object.optionalString("authorities"),
        pins: try object.strings("pins").map { try Base64URL.decode($0) })
    } catch { return nil }
    (id, server, nextAttempt) = (stored.id, stored.server, stored.notBefore)
  }
}
