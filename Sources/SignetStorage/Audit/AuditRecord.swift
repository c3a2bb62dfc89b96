import SignetJSON

/// An event with its actor and time, which a step writes into the audit log together with its change.
package struct AuditRecord: Hashable, Sendable {
  /// The event.
  package let event: AuditEvent
  /// The actor.
  package let by: AuditActor
  /// The time, in seconds since 1970.
  package let time: Int64

  /// Describes an entry.
  package init(_ event: AuditEvent, by actor: AuditActor, at time: Int64) {
    self.event = event
    self.by = actor
    self.time = time
  }

  /// Returns the entry's JSON object, as the log stores it: `time`, `event`, `by`, then the event's members.
  ///
  /// - Parameters:
  ///   - end: The time until which similar events are left out, as `silentUntil`; `nil` for none.
  ///   - device: The id of the device; `nil` for none.
  ///   - subject: Returns the log's name for a user id.
  /// - Returns: The JSON object.
  package func text(
    silentUntil end: Int64? = nil, on device: ID<DeviceRecord>? = nil,
    calling subject: (UserID) throws -> String
  ) rethrows -> String {
    let definition = event.definition
    var line = JSONLine()
    line.add("time", time)
    line.add("event", definition.name)
    line.add("by", try by.calling(subject).text)
    for (member, value) in definition.members {
      if let text = value?.description {
        line.add(member.rawValue, member == .user ? try subject(UserID(unchecked: text)) : text)
      }
    }
    if let device { line.add(AuditEvent.Member.device.rawValue, device.text) }
    if let end { line.add("silentUntil", end) }
    return line.text
  }
}

/// The actor of an event.
package enum AuditActor: Hashable, Sendable {
  /// An operator or a relying party, by an API key.
  case key(ID<APIKeyRecord>)
  /// An OpenID Connect client.
  case client(ID<ClientRecord>)
  /// A device, by its container.
  case container(ContainerID)
  /// A user who was authenticated by UAF.
  case user(UserID)
  /// A device, as a target of UAF operations.
  case target(ID<UAFTargetRecord>)
  /// An authenticator app.
  case app(ID<PushAuthMechanismRecord>)
  /// A person with access to the server's data folder.
  case local
  /// The server itself.
  case server
  /// The UAF conformance tool.
  case conformance
  /// An unauthenticated caller.
  case anyone

  /// The prefix of a user's text.
  package static let userPrefix = "user:"
  /// The prefix of a client's text.
  package static let clientPrefix = "client:"

  fileprivate func calling(_ subject: (UserID) throws -> String) rethrows -> Self {
    if case .user(let id) = self { .user(UserID(unchecked: try subject(id))) } else { self }
  }

  /// The text in the log.
  package var text: String {
    switch self {
    case .key(let id): "key:\(id)"
    case .client(let id): "\(Self.clientPrefix)\(id)"
    case .container(let id): "container:\(id)"
    case .user(let id): "\(Self.userPrefix)\(id)"
    case .target(let id): "target:\(id)"
    case .app(let id): "app:\(id)"
    case .local: "local"
    case .server: "server"
    case .conformance: "conformance"
    case .anyone: "anyone"
    }
  }
}
