/// What is wanted with one-time passwords.
package enum OTPOperation: Hashable, Sendable {
  /// To authenticate, with a credential in use.
  case use(String)
  /// To show that a token that was imported is the one that the user holds.
  case verify(String)
  /// To find a credential's place again, and to unlock it, with two codes in a row.
  case resynchronise(String, String)
}
