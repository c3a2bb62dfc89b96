import SignetJSON

/// An event with who caused it and when: what a step writes into the audit log beside its change.
public struct AuditRecord: Hashable, Sendable {
  /// What happened.
  public let event: AuditEvent
  /// Who caused it.
  public let by: AuditActor
  /// When, in seconds since 1970.
  public let time: Int64

  /// Describes an entry that is to be written.
  public init(_ event: AuditEvent, by actor: AuditActor, at time: Int64) {
    (self.event, self.by, self.time) = (event, actor, time)
  }

  /// The entry's JSON object, as the log keeps it: `time`, `event`, `by`, then the event's members.
  ///
  /// - Parameters:
  ///   - end: Until when what is like it is left out, as `silentUntil`; `nil` where nothing is.
  ///   - device: The id of the device; `nil` for none.
  ///   - subject: What the log calls a user of an id.
  /// - Returns: The JSON object.
  package func text(
    silentUntil end: Int64? = nil, on device: ID<DeviceRecord>? = nil,
    calling subject: (UserID) throws -> String
  ) rethrows -> String {
    let (name, members) = event.named
    var line = JSONLine()
    line.add("time", time)
    line.add("event", name)
    line.add("by", try by.calling(subject).text)
    for (member, value) in members {
      if let text = value?.description {
        line.add(member.rawValue, member == .user ? try subject(UserID(unchecked: text)) : text)
      }
    }
    if let device { line.add(AuditEvent.Member.device.rawValue, device.text) }
    if let end { line.add("silentUntil", end) }
    return line.text
  }
}

/// Who causes an event.
public enum AuditActor: Hashable, Sendable {
  /// An operator or a relying party, by an API key.
  case key(ID<APIKeyRecord>)
  /// A client of OpenID Connect.
  case client(ID<ClientRecord>)
  /// A device, by its container.
  case container(ContainerID)
  /// A user who was authenticated by UAF.
  case user(UserID)
  /// A device, as a target of UAF operations.
  case target(ID<UAFTargetRecord>)
  /// An authenticator app.
  case app(ID<PushAuthMechanismRecord>)
  /// Somebody with access to the server's data folder.
  case local
  /// The server by itself.
  case server
  /// The conformance tool of UAF.
  case conformance
  /// Somebody who was not authenticated.
  case anyone

  /// What the text of every user begins with.
  package static let userPrefix = "user:"
  /// What the text of every client begins with.
  package static let clientPrefix = "client:"

  fileprivate func calling(_ subject: (UserID) throws -> String) rethrows -> Self {
    if case .user(let id) = self { .user(UserID(unchecked: try subject(id))) } else { self }
  }

  /// The actor as the log names it.
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
