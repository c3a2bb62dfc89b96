/// What a server asks for, after it was checked and matched with this device.
public enum UAFRequest: Sendable {
  /// New keys for an account.
  case registration(UAFRegistration)
  /// Uses of keys: to sign in, or to confirm a transaction.
  case authentication(UAFAuthentication)
  /// The end of keys.
  case deregistration(UAFDeregistration)
}
