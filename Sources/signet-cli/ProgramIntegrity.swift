import Foundation
import SignetAgent
import SignetIntegrity
import SignetTerminal

/// What this program does about tampering with it.
enum ProgramIntegrity {
  /// A harder reaction than the flavour's own; a milder one is not taken.
  static let variable = "SIGNET_INTEGRITY"

  /// The guards and settings that are in force.
  ///
  /// A debug program that is told how to react looks for everything, as a release does, so that this can be tried.
  ///
  /// - Throws: `CommandFailure` for a reaction that is none.
  static func judge(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Integrity
  {
    let settings = IntegritySettings.standard(for: .current)
    guard let word = environment[variable], !word.isEmpty else {
      return try Integrity(settings: settings)
    }
    guard let wanted = Reaction(rawValue: word) else {
      let words = Reaction.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(.usage, "\(variable) is no reaction; use one of \(words)")
    }
    return try Integrity(
      guards: Integrity.standardGuards(for: .release), flavour: .current,
      settings: settings.hardened(to: wanted))
  }

  /// Before a command that needs a key: closes this process's memory to others, looks for tampering, and reacts.
  ///
  /// - Throws: `IntegrityFailure` where the command may not go on, and `SecretInputFailure` where a descriptor for a secret is not
  ///   open.
  static func admit(_ arguments: Arguments) async throws {
    closeMemory()
    try await admitOpen(arguments)
  }

  /// The same for commands that ask the agent, which has to see what it talks to.
  static func admitOpen(_ arguments: Arguments) async throws {
    // Before guards open anything: it would get the number of a descriptor that nobody has opened, and be read for a password.
    _ = try DeviceOptions(arguments, secretsFrom: ["pin-fd", "token-fd"].filter(arguments.declares))
    try await IntegrityGate(judge(), responder: AgentLock()).admit()
  }

  private static func closeMemory() {
    #if os(Linux)
      // Where the system does not, guards tell.
      ProcessHardening.closeMemory()
    #endif
  }

  /// Before anything else: a crash leaves no copy of secrets on the disk.
  static func begin() {
    #if os(Linux)
      ProcessHardening.forbidCoreDumps()
    #endif
  }
}

/// Locks what the agent keeps open: the sessions are its own, and none are this program's.
private struct AgentLock: IntegrityResponder {
  func lock(because report: IntegrityReport) async { await lockAll() }
  func wipeSession(because report: IntegrityReport) async { await lockAll() }

  private func lockAll() async {
    #if os(Linux)
      guard let path = AgentSocket.standardPath(ProcessInfo.processInfo.environment) else { return }
      do { try await AgentSession(path: path, servedBy: AgentSession.standardPrograms).lockAllGroups() } catch
      {
        // No agent, or one that is not trusted: what needs a key is refused all the same.
      }
    #endif
  }
}
