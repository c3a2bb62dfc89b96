import SignetCrypto
import SignetJSON
import SignetVault

/// A signed message that the vault stores until its server has received it.
protocol QueuedMessage {
  /// The creation time, in seconds since 1970.
  var created: Int64 { get }
  /// The earliest time of the next attempt, in seconds since 1970.
  var nextAttempt: Int64 { get }
}

extension QueuedMessage {
  /// Indicates whether an attempt is due.
  ///
  /// A wait longer than the maximum, left by a clock that was set back, is ignored.
  func isDue(at now: Int64) -> Bool {
    now >= nextAttempt || nextAttempt - now > QueuedNotice.longestWait
  }

  /// The time of the next attempt after one that failed now: the wait equals the age of the message, within the limits.
  func retry(after now: Int64) -> Int64 {
    now + min(max(now - created, QueuedNotice.shortestWait), QueuedNotice.longestWait)
  }
}

extension JSONObject {
  /// Appends the pins and authorities for the connection to a server.
  mutating func append(_ connection: ServerTrust) {
    self["pins"] = .array(connection.pins.map { .string(Base64URL.encode($0)) })
    if let authorities = connection.certificateAuthoritiesPEM { self["authorities"] = .string(authorities) }
  }

  /// Reads the pins and authorities for the connection to a server.
  func serverTrust() throws -> ServerTrust {
    ServerTrust(
      certificateAuthoritiesPEM: try optionalString("authorities"),
      pins: try strings("pins").map { try Base64URL.decode($0) })
  }
}
