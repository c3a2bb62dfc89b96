import Signet
import SignetAgent
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options that select a session of the agent.
enum AgentOptions {
  static let socket = Option.value(
    "socket", "The agent's socket; $XDG_RUNTIME_DIR/signet/agent.sock where it is not given", named: "path",
    completion: .file)
  static let program = Option.value(
    "agent",
    "The agent's program; /usr/bin/signet, /usr/local/bin/signet or this one where it is not given",
    named: "path", completion: .file)
  static let group = Option.value(
    "group", "The group of apps", named: "name", default: AppGroup.standard.name)

  /// - Throws: `CommandFailure` for an invalid group name.
  static func group(_ arguments: Arguments) throws -> AppGroup {
    guard let group = AppGroup(arguments.string("group")) else {
      throw CommandFailure(.usage, "the name of a group must be 1 to 64 visible ASCII characters")
    }
    return group
  }
}

#if os(Linux)
  extension AgentOptions {
    /// - Throws: `CommandFailure` if there is no path for a socket.
    static func path(_ arguments: Arguments) throws -> String {
      guard
        let path = arguments.optionalString("socket")
          ?? AgentSocket.standardPath(ProcessInfo.processInfo.environment)
      else {
        throw CommandFailure(
          .usage,
          "XDG_RUNTIME_DIR is not set: start the agent with signet agent --socket PATH, and name the same --socket here"
        )
      }
      return path
    }

    static func programs(_ arguments: Arguments) -> [String] {
      arguments.optionalString("agent").map { [$0] } ?? AgentSession.standardPrograms
    }

    static func session(_ arguments: Arguments) throws -> AgentSession {
      AgentSession(
        path: try path(arguments), group: try group(arguments), servedBy: programs(arguments))
    }
  }
#endif
