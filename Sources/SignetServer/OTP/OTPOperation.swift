package enum OTPOperation: Hashable, Sendable {
  /// Authenticates the user with an active credential.
  case use(String)
  /// Proves that an imported token is the one that the user holds.
  case verify(String)
  /// Resynchronizes and unlocks a credential with two consecutive codes.
  case resynchronise(String, String)
}
