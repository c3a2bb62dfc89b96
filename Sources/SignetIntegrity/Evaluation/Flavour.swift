/// The build flavour of a program.
///
/// A *debug* build has only the guards that do not disturb developers, and reports; a *release* has all guards and refuses.
/// The flavour is fixed at build time: nothing at run time turns a release into a debug build. Reports state it, and a
/// server can refuse `debug`.
public enum Flavour: String, Sendable, Hashable, CaseIterable {
  /// A development build: it does not look for debuggers, hooks, emulators and changed programs.
  case debug
  /// A production build.
  case release

  /// The flavour of this program.
  public static var current: Flavour {
    #if DEBUG
      .debug
    #else
      .release
    #endif
  }
}
