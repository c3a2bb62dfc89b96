import Foundation
import SignetAgent
import SignetFiles
import SignetIntegrity
import SignetJSON
import SignetTerminal

/// What this program does about tampering with it.
enum ProgramIntegrity {
  /// A harder reaction than the flavour's own; a milder one is not taken.
  static let variable = "SIGNET_INTEGRITY"

  /// The guards and settings that are in force, the same in all of this process: what they find out once serves each look.
  ///
  /// A debug program that is told how to react looks for everything, as a release does, so that this can be tried.
  ///
  /// - Throws: `CommandFailure` for a reaction that is none, and for a settings file that can't be read.
  static func judge() throws -> Integrity { try current.get() }

  private static let current = Result { try judge(ProcessInfo.processInfo.environment) }

  private static func judge(_ environment: [String: String]) throws -> Integrity {
    let standard = IntegritySettings.standard(for: .current)
    let written = try settings(environment, over: standard)
    var settings = written ?? standard
    let word = environment[variable] ?? ""
    if !word.isEmpty {
      guard let wanted = Reaction(rawValue: word) else {
        let words = Reaction.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "\(variable) is no reaction; use one of \(words)")
      }
      settings = settings.hardened(to: wanted)
    }
    guard written != nil || !word.isEmpty else { return try Integrity(settings: settings) }
    return try Integrity(
      guards: Integrity.standardGuards(for: .release), flavour: .current, settings: settings)
  }

  /// What the user's settings file makes harder; `nil` where there is none.
  private static func settings(
    _ environment: [String: String], over standard: IntegritySettings
  ) throws -> IntegritySettings? {
    guard let path = settingsPath(environment) else { return nil }
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try OpenFile.reading(path, as: FileRule(forbiddenMode: 0o022)).contents(limit: 65_536)
    } catch {
      switch error {
      case .missing: return nil
      case .ownedByAnother, .openToOthers, .wrongKind:
        throw CommandFailure(
          .noInput,
          "\(path) is not this user's alone; check what is in it, then make it yours (chown, chmod go-w)")
      default: throw CommandFailure(.noInput, "\(path) cannot be read: error \(error.code)")
      }
    }
    do {
      return standard.hardened(
        by: try IntegritySettings(JSONObject(parsing: bytes), over: standard))
    } catch {
      throw CommandFailure(.noInput, "\(path): \(error); see docs/integrity.md, or remove the file")
    }
  }

  private static func settingsPath(_ environment: [String: String]) -> String? {
    // XDG Base Directory Specification: an unset or relative XDG_CONFIG_HOME means ~/.config.
    if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") {
      return "\(base)/signet/integrity.json"
    }
    if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/.config/signet/integrity.json" }
    return nil
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
struct AgentLock: IntegrityResponder {
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
