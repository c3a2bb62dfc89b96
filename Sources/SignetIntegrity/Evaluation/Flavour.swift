/// How a program was built.
///
/// A *debug* program has the guards only that no developer gets in the way of, and reports; a *release* has all of them and refuses.
/// A program is what it was built as: nothing at run time makes a release a debug program. It states its flavour in reports, and a
/// server can refuse `debug`.
public enum Flavour: String, Sendable, Hashable, CaseIterable {
  /// For development: debuggers, hooks, emulators and changed programs are not looked for.
  case debug
  /// For use.
  case release

  /// What this program was built as.
  public static var current: Flavour {
    #if DEBUG
      .debug
    #else
      .release
    #endif
  }
}
