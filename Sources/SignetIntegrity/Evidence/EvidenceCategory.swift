/// The kind of tampering, or of environment, that evidence indicates.
public enum EvidenceCategory: String, Sendable, Hashable, CaseIterable {
  /// Another process controls this one (ptrace).
  case debugger
  /// A toolkit, such as Frida, runs its code in this process.
  case instrumentation
  /// A security-relevant function runs foreign code.
  case hook
  /// A library is loaded that the program did not request.
  case library
  /// More privileges than an app needs, on this system or in this process.
  case root
  /// Users other than the system's can replace files that all programs rely on.
  case writableSystem
  /// A virtual machine, an emulator or a container.
  case emulator
  /// The program differs from the released one.
  case changedBinary
  /// An environment variable changes the behaviour of libraries without the program's knowledge.
  case environment
  /// The screen has no lock.
  case screenLock
  /// A crash can write secrets to a file.
  case coreDumps
  /// A jailbroken or modified phone.
  case jailbreak
  /// A guard has no result: it failed, crashed or exceeded its limit.
  case guardFailure
}
