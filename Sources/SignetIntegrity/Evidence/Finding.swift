/// A kind of observation by a guard, with its default weight.
///
/// An app's own guards use their own word before the dot in the names of their findings.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// The name in weights, reports and on servers, such as `debugger.tracer`.
  public let name: String
  /// The category of evidence.
  public let category: EvidenceCategory
  /// The default weight, 0 to 1; 0 is for information only.
  public let weight: Double

  /// Creates a finding.
  ///
  /// - Parameters:
  ///   - name: The name: lower-case words, with a dot between the guard's word and the finding's.
  ///   - category: The category of evidence.
  ///   - weight: The default weight; a value outside 0 to 1 is clamped, and NaN counts as 1.
  public init(_ name: String, _ category: EvidenceCategory, weight: Double) {
    self.name = name
    self.category = category
    self.weight = Self.bounded(weight)
  }

  /// The name.
  public var description: String { name }

  /// Clamps a weight to 0 to 1; NaN counts as 1, so that an error never lowers a weight.
  static func bounded(_ weight: Double) -> Double { weight.isNaN ? 1 : min(max(weight, 0), 1) }
}

extension Finding {
  // MARK: Debuggers

  /// A thread has a tracer: gdb, strace, or another debugger.
  public static let tracer = Finding("debugger.tracer", .debugger, weight: 0.9)
  /// The kernel refuses to trace this process, as if it had a tracer, although `/proc` shows none.
  public static let hiddenTracer = Finding("debugger.hidden", .debugger, weight: 0.9)

  // MARK: Instrumentation

  /// The name of a mapping belongs to an instrumentation toolkit.
  public static let toolkitMapping = Finding("instrumentation.mapping", .instrumentation, weight: 1)
  /// Code runs from a memory-only file (`memfd`).
  public static let memoryFile = Finding("instrumentation.memfd", .instrumentation, weight: 0.9)
  /// Code runs from memory that is not backed by a file.
  public static let anonymousCode = Finding("instrumentation.code", .instrumentation, weight: 0.8)
  /// The kernel stops this program at probes (`uprobes`).
  public static let probes = Finding("instrumentation.probes", .instrumentation, weight: 0.8)
  /// A thread has a name that only an instrumentation toolkit uses.
  public static let toolkitThread = Finding("instrumentation.thread", .instrumentation, weight: 1)
  /// A thread has a name that toolkits use, but other libraries also do.
  public static let commonThread = Finding("instrumentation.common-thread", .instrumentation, weight: 0)
  /// A program on this machine listens on the port of Frida's server.
  public static let toolkitPort = Finding("instrumentation.port", .instrumentation, weight: 0.4)

  // MARK: Hooks and libraries

  /// A call goes to another library than the one that defines the function.
  public static let redirectedCall = Finding("hook.call", .hook, weight: 1)
  /// The first bytes of a function in memory differ from those in its file.
  public static let changedFunction = Finding("hook.function", .hook, weight: 1)
  /// The program's own code in memory differs from its file.
  public static let changedCode = Finding("hook.code", .hook, weight: 1)
  /// The file of a loaded library was replaced on disk, for example by an update, so its code cannot be compared.
  public static let replacedLibrary = Finding("hook.replaced-library", .hook, weight: 0)
  /// A library is loaded that no object requested, from outside the system's folders.
  public static let unexpectedLibrary = Finding("library.unexpected", .library, weight: 0.8)
  /// A requested library comes from a folder that is not on its search path.
  public static let misplacedLibrary = Finding("library.misplaced", .library, weight: 0.8)
  /// Users other than the system's can write to a system library.
  public static let writableLibrary = Finding("library.writable", .library, weight: 0.6)
  /// `/etc/ld.so.preload` makes all programs of this system load a library.
  public static let systemPreload = Finding("library.preload-file", .library, weight: 0.5)

  // MARK: System

  /// The process runs as root.
  public static let rootUser = Finding("root.user", .root, weight: 0)
  /// The process has the privileges of another user than the one who started it.
  public static let changedUser = Finding("root.changed-user", .root, weight: 0.3)
  /// All users, or a user other than the system's, can write to folders of programs and libraries.
  public static let writableSystem = Finding("system.writable", .writableSystem, weight: 0.6)
  /// All users can replace the program.
  public static let writableProgram = Finding("system.writable-program", .writableSystem, weight: 0.6)
  /// The machine is virtual.
  public static let hypervisor = Finding("emulator.hypervisor", .emulator, weight: 0)
  /// A program emulates the machine's processor.
  public static let emulator = Finding("emulator.emulated", .emulator, weight: 0)
  /// The process runs in a container.
  public static let container = Finding("emulator.container", .emulator, weight: 0)

  // MARK: Program

  /// The digest of the program's file differs from its signed manifest.
  public static let changedProgram = Finding("binary.changed", .changedBinary, weight: 1)
  /// The manifest is damaged or not signed by the key of this release.
  public static let forgedManifest = Finding("binary.forged-manifest", .changedBinary, weight: 1)
  /// This program was released with a manifest, but it is missing.
  public static let missingManifest = Finding("binary.missing-manifest", .changedBinary, weight: 1)
  /// The program is a development build without a release key and cannot be verified.
  public static let unsignedBuild = Finding("binary.unsigned", .changedBinary, weight: 0)

  // MARK: Surroundings

  /// An environment variable loads code into this process.
  public static let loadingVariable = Finding("environment.loads-code", .environment, weight: 0.5)
  /// An environment variable changes the search paths or settings of libraries, or makes them log keys.
  public static let unsafeVariable = Finding("environment.unsafe", .environment, weight: 0.3)
  /// The desktop does not lock its screen, or the user has no password.
  public static let noScreenLock = Finding("screen-lock.missing", .screenLock, weight: 0.3)
  /// A crash writes the memory of this process to a file.
  public static let coreDumps = Finding("core-dumps.enabled", .coreDumps, weight: 0.2)

  // MARK: Jailbreaks

  /// A file exists that only jailbreaks leave.
  public static let jailbreakFile = Finding("jailbreak.file", .jailbreak, weight: 0.8)
  /// The app could do an operation that its sandbox should prevent.
  public static let openSandbox = Finding("jailbreak.sandbox", .jailbreak, weight: 1)
  /// A library is loaded that only jailbreaks and toolkits load.
  public static let jailbreakImage = Finding("jailbreak.image", .jailbreak, weight: 1)
  /// An app that only jailbreaks install answers a URL.
  public static let jailbreakScheme = Finding("jailbreak.scheme", .jailbreak, weight: 0.8)

  // MARK: Guards

  /// A guard failed.
  public static let failedGuard = Finding("guard.failed", .guardFailure, weight: 0.3)
  /// A guard's process crashed or exited early.
  public static let crashedGuard = Finding("guard.crashed", .guardFailure, weight: 0.5)
  /// A guard exceeded its time limit.
  public static let slowGuard = Finding("guard.timed-out", .guardFailure, weight: 0.3)
  /// Several guards had no result: chance can explain one, but an attacker would silence the guards first.
  public static let silencedGuards = Finding("guard.silenced", .guardFailure, weight: 0.9)

  /// The findings about a guard that had no result.
  static let guardFailures: Set<Finding> = [.failedGuard, .crashedGuard, .slowGuard]

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
