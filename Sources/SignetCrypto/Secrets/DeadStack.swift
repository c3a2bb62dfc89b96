import COpenSSL

/// What earlier calls left on this thread's stack.
///
/// Secrets are worked on in registers, and registers are saved on the stack wherever a call needs them: by the
/// compiler, and by the dynamic linker, all of them, the first time that a function of another library is called. No
/// secret type can wipe such copies.
package enum DeadStack {
  /// Overwrites the vector registers and 32 KiB below the caller's frame: to be called once the calls that held secrets have returned.
  package static func wipe() { COpenSSL_wipe_dead_stack() }

  /// Runs `body`, and overwrites what it leaves.
  ///
  /// `body` gets a frame of its own: inlined into the caller, it would save registers above what is wiped.
  package static func wiped<R: ~Copyable, E: Error>(after body: () throws(E) -> R) throws(E) -> R {
    defer { wipe() }
    return try apart(body)
  }

  @inline(never)
  private static func apart<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R { try body() }
}
