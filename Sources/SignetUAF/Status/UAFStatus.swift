/// What a server says about a message (UAF Application API and Transport Binding section 3.1).
package enum UAFStatus: Int, Hashable, Sendable, CaseIterable {
  case ok = 1200
  /// Taken, but not done yet.
  case accepted = 1202
  /// Not understood.
  case badRequest = 1400
  /// The user has to be authenticated for this, or the key is another's.
  case unauthorized = 1401
  /// Not for this user; not to be tried again.
  case forbidden = 1403
  case notFound = 1404
  case timeout = 1408
  /// There is no metadata of the authenticator's model.
  case unknownAAID = 1480
  /// There is no such key; the client should delete it.
  case unknownKeyID = 1481
  case channelBindingRefused = 1490
  /// The challenge is unknown, too old, or was used before.
  case requestInvalid = 1491
  case unacceptableAuthenticator = 1492
  case revokedAuthenticator = 1493
  case unacceptableKey = 1494
  case unacceptableAlgorithm = 1495
  case unacceptableAttestation = 1496
  case unacceptableClientCapabilities = 1497
  case unacceptableContent = 1498
  case internalError = 1500
}
