import COpenSSL

/// What earlier calls left on this thread's stack.
///
/// Secrets are worked on in registers, and registers are saved on the stack wherever a call needs them: by the
/// compiler, and by the dynamic linker, all of them, the first time that a function of another library is called. No
/// secret type can wipe such copies.
package enum DeadStack {
  /// Overwrites 32 KiB below the caller's frame: to be called once the calls that held secrets have returned.
  package static func wipe() { COpenSSL_wipe_dead_stack() }
}
