import CProgramStart
import SignetAgent
import SignetCrypto
import SignetIntegrity
import SignetJSON
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

enum ProgramIntegrity {
  /// The variable for a stricter reaction than the flavour's; a milder one has no effect.
  static let variable = "SIGNET_INTEGRITY"

  /// Returns the guards and settings, shared by the whole process so that cached facts serve every evaluation.
  ///
  /// A debug program with a configured reaction uses all guards, as a release does, so that the reaction can be tried.
  ///
  /// - Throws: `CommandFailure` for an unknown reaction, and for an unreadable settings file.
  static func shared() throws -> Integrity { try current.get() }

  private static let current = Result { try integrity(in: ProcessInfo.processInfo.environment) }

  private static func integrity(in environment: [String: String]) throws -> Integrity {
    let standard = IntegritySettings.standard(for: .current)
    let configured = try settings(environment, over: standard)
    var settings = configured ?? standard
    let value = environment[variable] ?? ""
    if !value.isEmpty {
      guard let reaction = Reaction(rawValue: value) else {
        let names = Reaction.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "\(ours: variable) is not a reaction; use one of \(ours: names)")
      }
      settings = settings.hardened(to: reaction)
    }
    guard configured != nil || !value.isEmpty else { return try Integrity(settings: settings) }
    return try Integrity(
      guards: Integrity.standardGuards(for: .release), flavour: .current, settings: settings)
  }

  /// Returns the stricter settings from the user's file; `nil` if there is none.
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
          "\(path) may be changed by other users; check what is in it, then make this user its only writer (chown, chmod go-w)"
        )
      default:
        // A home of another user, as under sudo, has no settings of this user.
        if error.code == EACCES, !FileManager.default.fileExists(atPath: path) { return nil }
        throw CommandFailure(.noInput, "\(path) cannot be read: error \(error.code)")
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

  /// Checks for tampering and reacts, before a command that needs a key.
  ///
  /// - Throws: `IntegrityFailure` if the command is refused, and `SecretInputFailure` if a descriptor for a secret is not
  ///   open.
  static func admit(_ arguments: Arguments) async throws {
    // Checked before guards open files: a file could get the number of a closed descriptor and be read as a password.
    _ = try DeviceOptions(arguments, secretsFrom: ["pin-fd", "token-fd"].filter(arguments.declares))
    try await IntegrityGate(shared(), responder: AgentLock()).admit()
  }

  /// Checks the program's own code, before a command that reads, denies or removes.
  ///
  /// Such a command is refused only if the program or its loaded code differs from the release. A debugger and other
  /// findings of ``admit(_:)`` must not prevent a user from denying. Foreign code must, because the requests of these
  /// commands are signed and it could change their content.
  ///
  /// - Throws: The same errors as ``admit(_:)``.
  static func admitOwnCode(_ arguments: Arguments) async throws {
    _ = try DeviceOptions(arguments)
    #if os(Linux)
      let standard = try shared()
      // A debug program does not look for developers' tools.
      guard standard.guardNames.contains(HookGuard().name) else { return }
      let integrity = try Integrity(
        guards: [HookGuard(), LibraryGuard(), BinaryGuard()], flavour: standard.flavour,
        settings: standard.settings
      )
      try await IntegrityGate(integrity, responder: AgentLock()).admit()
    #endif
  }

  /// Closes the process before each command: other processes of the user cannot read its memory, and a crash leaves no copy.
  ///
  /// An installed program is closed from exec on, others before the first library code runs (`CProgramStart`); this function
  /// does the rest. If the system refuses, guards and the doctor report it.
  static func begin() {
    _ = signet_program_start()
    CryptoLibrary.keepsStateAtExit()
    #if os(Linux)
      ProcessHardening.closeMemory()
    #endif
  }
}

/// Locks the agent's sessions; this program has none of its own.
struct AgentLock: IntegrityResponder {
  func lock(because report: IntegrityReport) async { await lockAll() }
  func wipeSession(because report: IntegrityReport) async { await lockAll() }
  func terminate(because report: IntegrityReport) async -> Never {
    await lockAll()
    await PlainResponder().terminate(because: report)
  }

  private func lockAll() async {
    #if os(Linux)
      guard let path = AgentSocket.standardPath(ProcessInfo.processInfo.environment) else { return }
      do { try await AgentSession(path: path, servedBy: AgentSession.standardPrograms).lockAllGroups() } catch
      {
        // No agent, or one that is not trusted: the operation is still refused.
      }
    #endif
  }
}
