import CProgramStart
import SignetAgent
import SignetCrypto
import SignetFiles
import SignetIntegrity
import SignetJSON
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

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
        throw CommandFailure(.usage, "\(ours: variable) is no reaction; use one of \(ours: words)")
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
      default:
        // In a home that is somebody else's, as under sudo, there is nothing of this user's.
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

  /// Before a command that needs a key: looks for tampering, and reacts.
  ///
  /// - Throws: `IntegrityFailure` where the command may not go on, and `SecretInputFailure` where a descriptor for a secret is not
  ///   open.
  static func admit(_ arguments: Arguments) async throws {
    // Before guards open anything: it would get the number of a descriptor that nobody has opened, and be read for a password.
    _ = try DeviceOptions(arguments, secretsFrom: ["pin-fd", "token-fd"].filter(arguments.declares))
    try await IntegrityGate(judge(), responder: AgentLock()).admit()
  }

  /// Before a command that reads, denies or removes: refused where the program or what is loaded into it is not what was released.
  ///
  /// A debugger and the rest of what ``admit(_:)`` looks for keep nobody from saying no. Code of others does: the requests of these
  /// commands are signed, and it may change what is signed.
  ///
  /// - Throws: As ``admit(_:)``.
  static func admitOwnCode(_ arguments: Arguments) async throws {
    _ = try DeviceOptions(arguments)
    #if os(Linux)
      let judge = try judge()
      // A debug program looks for nothing that developers do.
      guard judge.guardNames.contains(HookGuard().name) else { return }
      let own = try Integrity(
        guards: [HookGuard(), LibraryGuard(), BinaryGuard()], flavour: judge.flavour, settings: judge.settings
      )
      try await IntegrityGate(own, responder: AgentLock()).admit()
    #endif
  }

  /// Before anything else, of each command: no other process of the user reads this one's memory, and a crash leaves no copy of it.
  ///
  /// In an installed program it is closed from exec on, and elsewhere since before the first library's code (`CProgramStart`); here
  /// the rest follows. Where the system does not, guards and the doctor tell.
  static func begin() {
    _ = signet_program_start()
    CryptoLibrary.keepsStateAtExit()
    #if os(Linux)
      ProcessHardening.closeMemory()
    #endif
  }
}

/// Locks what the agent keeps open: the sessions are its own, and none are this program's.
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
        // No agent, or one that is not trusted: what needs a key is refused all the same.
      }
    #endif
  }
}
