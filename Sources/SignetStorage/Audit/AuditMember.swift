extension AuditEvent {
  /// A value beside `time`, `event` and `by` in an event's JSON; all are strings, and one that does not apply is left out.
  public enum Member: String, Hashable, Sendable, CaseIterable {
    /// The user: in the log by the subject, where it is shown by the id of who is not deleted.
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
    /// The client of OpenID Connect.
    case client
    /// How a client authenticates.
    case authentication
    /// How a client learns of an end: `poll`, `ping` or `push`.
    case delivery
    /// The signing key before this one.
    case after
    /// The container that is to take this one's place.
    case successor
    /// The container whose place this one takes.
    case renews
    /// How often the container was renewed.
    case renewals
    /// What keeps the device's secrets, as the device says.
    case keystore
    /// How the device made the container's keys, as it says; of UAF, the keys as JSON.
    case keys
    /// Why, for people; the tables below list the texts that are fixed.
    case reason
    /// How many tries are left.
    case remaining
    /// The containers and tokens that are locked now, separated by spaces.
    case locked
    /// When it happened by the device's clock, in seconds since 1970.
    case deviceTime
    /// What a report led to: `allow`, `stepUp`, `lock` or `wipe`.
    case reaction
    /// The names of account policies, separated by spaces.
    case policies
    /// The order to a device.
    case order
    /// What was ordered: `lock`, `unlock` or `wipe`.
    case action
    /// The target of pushes or of UAF operations.
    case target
    /// The push service.
    case service
    /// The authenticator app.
    case mechanism
    /// The system that the authenticator app runs on, as it says.
    case platform
    /// The message to an authenticator app.
    case message
    /// The UAF operation.
    case session
    /// What the UAF operation does: `Reg`, `Auth` or `Dereg`.
    case operation
    /// The model of a UAF authenticator.
    case aaid
    /// The status of UAF with which the operation ended.
    case status
    /// The status of the authenticators' module, as the client says.
    case asm
    /// The models whose metadata describes a newer version, separated by spaces.
    case outdated
    /// The device that the event is about or happened on, by the server's id; for `uaf.deviceRemoved` the name that the device gives itself.
    case device
  }

  /// Members in the order in which they are written; `nil` leaves one out.
  typealias Members = KeyValuePairs<Member, (any CustomStringConvertible)?>
}
