extension AuditEvent {
  /// A member of an event's JSON in addition to `time`, `event` and `by`; all values are strings, and a member that does not
  /// apply is left out.
  package enum Member: String, Hashable, Sendable, CaseIterable {
    /// The user: the log has the subject; displays show the id of a user who is not deleted.
    case user
    /// The container.
    case container
    /// The transaction.
    case transaction
    /// The invite.
    case activation
    /// The token's serial number.
    case token
    /// The API key, the signing key, or the id of a UAF key in Base64url.
    case key
    /// The name of an API key or of a client.
    case name
    /// The OpenID Connect client.
    case client
    /// How a client authenticates.
    case authentication
    /// How a client is notified of an end: `poll`, `ping` or `push`.
    case delivery
    /// The previous signing key.
    case after
    /// The container that is to replace this one.
    case successor
    /// The container that this one replaces.
    case renews
    /// The number of renewals of the container.
    case renewals
    /// The device's keystore, according to the device.
    case keystore
    /// How the device generated the container's keys, according to the device; for UAF, the keys as JSON.
    case keys
    /// The reason, for people; the tables below list the texts that are fixed.
    case reason
    /// The number of remaining attempts.
    case remaining
    /// The containers and tokens that are locked now, separated by spaces.
    case locked
    /// The time of the event by the device's clock, in seconds since 1970.
    case deviceTime
    /// The reaction to a report: `allow`, `stepUp`, `lock` or `wipe`.
    case reaction
    /// The names of account policies, separated by spaces.
    case policies
    /// The order to a device.
    case order
    /// The ordered action: `lock`, `unlock` or `wipe`.
    case action
    /// The push target or the target of UAF operations.
    case target
    /// The push service.
    case service
    /// The authenticator app.
    case mechanism
    /// The operating system of the authenticator app, according to the app.
    case platform
    /// The message to an authenticator app.
    case message
    /// The UAF operation.
    case session
    /// The kind of the UAF operation: `Reg`, `Auth` or `Dereg`.
    case operation
    /// The model of a UAF authenticator.
    case aaid
    /// The UAF status with which the operation ended.
    case status
    /// The ASM's status, according to the client.
    case asm
    /// The models whose metadata describes a newer version, separated by spaces.
    case outdated
    /// The device of the event, by the server's id; for `uaf.deviceRemoved` the id that the device itself reported.
    case device
  }

  /// Members in the order in which they are written; a `nil` value is left out.
  typealias Members = KeyValuePairs<Member, (any CustomStringConvertible)?>
}
