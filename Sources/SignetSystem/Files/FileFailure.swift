#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a file was not used; each module translates it into its own failures, with messages for users.
package enum FileFailure: Error, Hashable, Sendable {
  /// A C function failed; `errno` is the system's reason.
  case system(call: String, errno: Int32)
  /// The file or folder does not exist.
  case missing
  /// The object is not a plain file, or not a folder if a folder is required.
  case wrongKind
  /// The owner is another user.
  case ownedByAnother(owner: UInt32)
  /// Other users have more access than the rule allows; `mode` has the permission bits.
  case openToOthers(mode: UInt32)
  /// The file has more bytes than the limit.
  case tooLarge
  /// The file ended before the required number of bytes.
  case tooShort

  /// The nearest `errno` value.
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

  /// The failure of the last C function call.
  static func last(_ call: String) -> FileFailure { .system(call: call, errno: errno) }
}

/// The system's message for an error number.
package func systemMessage(_ error: Int32) -> String {
  // The text is valid at least until this thread's next call.
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
