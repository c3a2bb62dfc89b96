/// A thing that a guard can find, with what it weighs unless an app says otherwise.
///
/// Apps that write guards of their own name their findings with a word of their own before the dot.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// The name by which weights, reports and servers know it, such as `debugger.tracer`.
  public let name: String
  /// What kind of evidence it is.
  public let category: EvidenceCategory
  /// How much it speaks for tampering, 0 to 1; 0 for what is only good to know.
  public let weight: Double

  /// A finding.
  ///
  /// - Parameters:
  ///   - name: Its name; lower-case words, with a dot between the guard's and its own.
  ///   - category: What kind of evidence it is.
  ///   - weight: How much it speaks for tampering; values outside of 0 to 1, and what is no number, are moved to the nearer end.
  public init(_ name: String, _ category: EvidenceCategory, weight: Double) {
    self.name = name
    self.category = category
    self.weight = Self.bounded(weight)
  }

  /// The name.
  public var description: String { name }

  /// A weight between 0 and 1; what is no number counts as 1, so that nothing gets light by an error.
  static func bounded(_ weight: Double) -> Double { weight.isNaN ? 1 : min(max(weight, 0), 1) }
}

extension Finding {
  // MARK: Debuggers

  /// A thread has a tracer: gdb, strace, another debugger.
  public static let tracer = Finding("debugger.tracer", .debugger, weight: 0.9)
  /// The kernel lets nobody trace this process, as if somebody did, although `/proc` shows no tracer.
  public static let hiddenTracer = Finding("debugger.hidden", .debugger, weight: 0.9)

  // MARK: Instrumentation

  /// A mapping bears the name of an instrumentation toolkit.
  public static let toolkitMapping = Finding("instrumentation.mapping", .instrumentation, weight: 1)
  /// Code runs from a file in memory only (`memfd`).
  public static let memoryFile = Finding("instrumentation.memfd", .instrumentation, weight: 0.9)
  /// Code runs from memory that no file stands behind.
  public static let anonymousCode = Finding("instrumentation.code", .instrumentation, weight: 0.8)
  /// The kernel stops this program at probes that somebody has set (`uprobes`).
  public static let probes = Finding("instrumentation.probes", .instrumentation, weight: 0.8)
  /// A thread bears a name that only an instrumentation toolkit gives.
  public static let toolkitThread = Finding("instrumentation.thread", .instrumentation, weight: 1)
  /// A thread bears a name that toolkits give, and other libraries too.
  public static let commonThread = Finding("instrumentation.common-thread", .instrumentation, weight: 0)
  /// A program on this machine listens where Frida's server does.
  public static let toolkitPort = Finding("instrumentation.port", .instrumentation, weight: 0.4)

  // MARK: Hooks and libraries

  /// A call goes to another library than the one that has the function.
  public static let redirectedCall = Finding("hook.call", .hook, weight: 1)
  /// The first bytes of a function in memory are not those in its file.
  public static let changedFunction = Finding("hook.function", .hook, weight: 1)
  /// The program's own code in memory is not that of its file.
  public static let changedCode = Finding("hook.code", .hook, weight: 1)
  /// A loaded library was replaced on the disk since, as by an update, so that its code can't be compared.
  public static let replacedLibrary = Finding("hook.replaced-library", .hook, weight: 0)
  /// A library is loaded that no other asked for, from outside of the system's folders.
  public static let unexpectedLibrary = Finding("library.unexpected", .library, weight: 0.8)
  /// A library that was asked for comes from a folder where it should not be looked for.
  public static let misplacedLibrary = Finding("library.misplaced", .library, weight: 0.8)
  /// A library of the system can be written to by others.
  public static let writableLibrary = Finding("library.writable", .library, weight: 0.6)
  /// All programs of this system load what `/etc/ld.so.preload` names.
  public static let systemPreload = Finding("library.preload-file", .library, weight: 0.5)

  // MARK: System

  /// The process runs as root.
  public static let rootUser = Finding("root.user", .root, weight: 0)
  /// The process has rights of another user than the one who started it.
  public static let changedUser = Finding("root.changed-user", .root, weight: 0.3)
  /// Everybody, or another user than the system's, can write where programs and libraries lie.
  public static let writableSystem = Finding("system.writable", .writableSystem, weight: 0.6)
  /// Everybody can replace the program.
  public static let writableProgram = Finding("system.writable-program", .writableSystem, weight: 0.6)
  /// The machine is a virtual one.
  public static let hypervisor = Finding("emulator.hypervisor", .emulator, weight: 0)
  /// The machine's instructions are carried out by a program.
  public static let emulator = Finding("emulator.emulated", .emulator, weight: 0)
  /// The process lives in a container.
  public static let container = Finding("emulator.container", .emulator, weight: 0)

  // MARK: Program

  /// The program's file has another digest than its signed manifest says.
  public static let changedProgram = Finding("binary.changed", .changedBinary, weight: 1)
  /// The manifest is not signed by the key of this release, or is damaged.
  public static let forgedManifest = Finding("binary.forged-manifest", .changedBinary, weight: 1)
  /// This program was released with a manifest, and there is none.
  public static let missingManifest = Finding("binary.missing-manifest", .changedBinary, weight: 1)
  /// The program was built without the key of a release, for development: nothing can be said.
  public static let unsignedBuild = Finding("binary.unsigned", .changedBinary, weight: 0)

  // MARK: Surroundings

  /// A variable loads code into this process.
  public static let loadingVariable = Finding("environment.loads-code", .environment, weight: 0.5)
  /// A variable changes where libraries look for code or settings, or has keys written down.
  public static let unsafeVariable = Finding("environment.unsafe", .environment, weight: 0.3)
  /// The desktop does not lock its screen, or the user has no password.
  public static let noScreenLock = Finding("screen-lock.missing", .screenLock, weight: 0.3)
  /// A crash writes the memory of this process to a file.
  public static let coreDumps = Finding("core-dumps.enabled", .coreDumps, weight: 0.2)

  // MARK: Jailbreaks

  /// A file that only jailbreaks leave is there.
  public static let jailbreakFile = Finding("jailbreak.file", .jailbreak, weight: 0.8)
  /// The app could do what its sandbox should not let it.
  public static let openSandbox = Finding("jailbreak.sandbox", .jailbreak, weight: 1)
  /// A library that only jailbreaks and toolkits load is loaded.
  public static let jailbreakImage = Finding("jailbreak.image", .jailbreak, weight: 1)
  /// An app that only jailbreaks bring answers a URL.
  public static let jailbreakScheme = Finding("jailbreak.scheme", .jailbreak, weight: 0.8)

  // MARK: Guards

  /// A guard could not look.
  public static let failedGuard = Finding("guard.failed", .guardFailure, weight: 0.3)
  /// A guard's process ended by itself or by a signal.
  public static let crashedGuard = Finding("guard.crashed", .guardFailure, weight: 0.5)
  /// A guard took too long.
  public static let slowGuard = Finding("guard.timed-out", .guardFailure, weight: 0.3)
  /// Several guards could not look: chance takes one, and whoever tampers begins with what would tell.
  public static let silencedGuards = Finding("guard.silenced", .guardFailure, weight: 0.9)

  /// What is said of a guard that did not look.
  static let ofSilence: Set<Finding> = [.failedGuard, .crashedGuard, .slowGuard]

  // MARK: All

  /// All findings of the standard guards.
  public static let standard: [Finding] = [
    .tracer, .hiddenTracer, .toolkitMapping, .memoryFile, .anonymousCode, .probes, .toolkitThread,
    .commonThread, .toolkitPort, .redirectedCall, .changedFunction, .changedCode, .replacedLibrary,
    .unexpectedLibrary,
    .misplacedLibrary, .writableLibrary, .systemPreload, .rootUser, .changedUser, .writableSystem,
    .writableProgram, .hypervisor, .emulator, .container, .changedProgram, .forgedManifest, .missingManifest,
    .unsignedBuild, .loadingVariable, .unsafeVariable, .noScreenLock, .coreDumps, .jailbreakFile,
    .openSandbox, .jailbreakImage, .jailbreakScheme, .failedGuard, .crashedGuard, .slowGuard,
    .silencedGuards,
  ]
}
