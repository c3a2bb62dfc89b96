import COpenSSL

/// Remains of earlier calls on this thread's stack.
///
/// Calls save registers on the stack, and registers may hold secrets. The compiler saves some. The dynamic linker saves all
/// of them at the first call of another library's function. A secret type cannot wipe such copies.
package enum DeadStack {
  /// Overwrites the vector registers and 32 KiB below the caller's frame.
  ///
  /// Call it after the calls that used secrets have returned.
  package static func wipe() { COpenSSL_wipe_dead_stack() }

  /// Runs `body` and then overwrites its stack.
  ///
  /// `body` gets a separate frame: if it were inlined into the caller, it would save registers above the wiped range.
  package static func wiped<R: ~Copyable, E: Error>(after body: () throws(E) -> R) throws(E) -> R {
    defer { wipe() }
    return try apart(body)
  }

  @inline(never)
  private static func apart<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R { try body() }
}
