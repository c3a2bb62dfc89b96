/// The status codes of a server (UAF Application API and Transport Binding section 3.1).
package enum UAFStatus: Int, Hashable, Sendable, CaseIterable {
  case ok = 1200
  /// The message is accepted, but not processed yet.
  case accepted = 1202
  /// The server did not understand the message.
  case badRequest = 1400
  /// The user must be authenticated first, or the key belongs to another user.
  case unauthorized = 1401
  /// The user is not allowed to do this; do not retry.
  case forbidden = 1403
  case notFound = 1404
  case timeout = 1408
  /// The server has no metadata of the authenticator's model.
  case unknownAAID = 1480
  /// The key is unknown; the client should delete it.
  case unknownKeyID = 1481
  case channelBindingRefused = 1490
  /// The challenge is unknown, expired or already used.
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
