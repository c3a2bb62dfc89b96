/// A failure to use a session that is shared with other apps.
@nonexhaustive public enum SharedSessionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// No agent serves the session; `code` is an `errno` value.
  case unreachable(path: String, code: Int32)
  /// The serving process belongs to another user, or other users can replace it.
  case notTrusted(path: String)
  /// This program is in no group of the session, or other users can change its file or folder.
  case refused
  /// The agent closed the connection, or took too long.
  case interrupted
  /// The agent's answer does not follow this version of the protocol.
  case protocolBroken
  /// The agent serves its maximum number of programs.
  case busy
  /// The agent reports tampering with itself and unlocks nothing; the value is its finding.
  case tampered(String)
  /// The agent failed for another reason, given here as text.
  case failed(String)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .unreachable(let path, let code):
      "no agent serves the shared session at \(path) (error \(code)); start one: systemctl --user start signet-agent.socket, or signet agent"
    case .notTrusted(let path):
      "the process at \(path) is not signet agent, or other users can use the socket; stop that process, and start signet agent"
    case .refused:
      "this program may not use the shared session; add its path to the agent's groups, and see that no other user can change the file"
    case .interrupted: "the agent closed the connection; try again"
    case .protocolBroken: "the agent speaks another version of the protocol; use programs of one version"
    case .busy: "the agent serves as many programs as it can; try again"
    case .tampered(let found):
      "the agent is being tampered with: \(found); remove the cause, restart the agent, and try again"
    case .failed(let reason): "the agent failed: \(reason)"
    }
  }
}
