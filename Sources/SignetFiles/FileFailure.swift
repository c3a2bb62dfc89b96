#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a file was not used; each module translates this into its own family of failures, for people to read.
package enum FileFailure: Error, Hashable, Sendable {
  /// A C function failed, for the system's reason.
  case system(call: String, errno: Int32)
  /// Nothing is there to be read.
  case missing
  /// Something else is there than a plain file, or than a folder where one is wanted.
  case wrongKind
  /// Another user owns it.
  case ownedByAnother(owner: UInt32)
  /// Other users may do more than the rule allows; `mode` has the permission bits.
  case openToOthers(mode: UInt32)
  /// It has more bytes than the limit.
  case tooLarge
  /// It ended before as many bytes came as were wanted.
  case tooShort

  /// The `errno` value that says the same, or nearly.
  package var code: Int32 {
    switch self {
    case .system(_, let error): error
    case .missing: ENOENT
    case .wrongKind: EINVAL
    case .ownedByAnother, .openToOthers: EPERM
    case .tooLarge: EFBIG
    case .tooShort: EIO
    }
  }

  /// The failure of the C function that was called just now.
  static func last(_ call: String) -> FileFailure { .system(call: call, errno: errno) }
}

/// What the system calls an error number.
package func systemMessage(_ error: Int32) -> String {
  // The text lives at least until this thread's next call.
  guard let message = unsafe strerror(error) else { return "error \(error)" }
  return unsafe String(cString: message)
}

/// Repeats a system call that a signal interrupted.
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}
