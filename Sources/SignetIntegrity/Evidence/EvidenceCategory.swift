/// What kind of tampering, or of surroundings, evidence speaks of.
public enum EvidenceCategory: String, Sendable, Hashable, CaseIterable {
  /// Another process controls this one (ptrace).
  case debugger
  /// A toolkit runs its code in this process, such as Frida.
  case instrumentation
  /// A function that matters is answered by somebody else's code.
  case hook
  /// A library is loaded that the program did not ask for.
  case library
  /// More power than an app needs, on this system or in this process.
  case root
  /// What all programs rely on can be replaced by others than the system.
  case writableSystem
  /// A virtual machine, an emulator or a container.
  case emulator
  /// The program is not the one that was released.
  case changedBinary
  /// An environment variable makes libraries do what the program does not know of.
  case environment
  /// Nothing locks the screen.
  case screenLock
  /// Secrets can get into a file when the program crashes.
  case coreDumps
  /// A jailbroken or modified phone.
  case jailbreak
  /// A guard could not say anything: it failed, crashed or took too long.
  case guardFailure
}
