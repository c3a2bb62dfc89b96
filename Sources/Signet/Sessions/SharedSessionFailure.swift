/// Why a session that is shared with other apps could not be asked.
@nonexhaustive public enum SharedSessionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nobody serves the session; `code` is an `errno` value.
  case unreachable(path: String, code: Int32)
  /// What serves the session is another user's, or others may take its place.
  case notTrusted(path: String)
  /// This program is in no group of the session, or its file or folder may be changed by others.
  case refused
  /// The other side ended the conversation, or took too long.
  case interrupted
  /// What the other side said is not of this version of the protocol.
  case protocolBroken
  /// The session serves as many programs as it can.
  case busy
  /// What serves the session is being tampered with, and unlocks nothing; what was found.
  case tampered(String)
  /// The session failed for a reason of its own, which is told here.
  case failed(String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .unreachable(let path, let code):
      "nobody serves the shared session at \(path) (error \(code)): no agent runs; start one: systemctl --user start signet-agent.socket, or signet agent"
    case .notTrusted(let path):
      "what serves \(path) is not signet agent, or the socket is not this user's alone; stop it, and start signet agent"
    case .refused:
      "this program may not use the shared session; add its path to the agent's groups, and see that no other user can change the file"
    case .interrupted: "the agent ended the conversation; try again"
    case .protocolBroken: "the agent speaks another version of the protocol; use programs of one version"
    case .busy: "the agent serves as many programs as it can; try again"
    case .tampered(let found):
      "the agent is being tampered with: \(found); end what does so, start the agent anew, and try again"
    case .failed(let reason): "the agent could not do it: \(reason)"
    }
  }
}
