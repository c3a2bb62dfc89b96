/// A server's request, checked and matched with this device.
public enum UAFRequest: Sendable {
  /// A request for new keys of an account.
  case registration(UAFRegistration)
  /// A request to use keys, to log in or to confirm a transaction.
  case authentication(UAFAuthentication)
  /// A request to delete keys.
  case deregistration(UAFDeregistration)
}
