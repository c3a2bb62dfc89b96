import SignetCrypto

/// The required binding of a response to the TLS connection.
package enum ChannelBindingRule: Hashable, Sendable {
  /// The binding is not verified, for example behind a proxy that does not forward it.
  case notChecked
  /// A present binding must match, but it may be absent.
  case whenPresent(UAFChannelBinding)
  /// A binding must be present and match.
  case required(UAFChannelBinding)

  /// Indicates whether the client's binding is accepted.
  func accepts(_ claimed: UAFChannelBinding) -> Bool {
    switch self {
    case .notChecked: true
    case .whenPresent(let expected): Self.agree(claimed, expected) != nil
    case .required(let expected): Self.agree(claimed, expected) == true
    }
  }

  /// Returns whether a binding is present; `nil` if it does not match.
  private static func agree(_ claimed: UAFChannelBinding, _ expected: UAFChannelBinding) -> Bool? {
    var isPresent = false
    for (claimed, expected) in [
      (claimed.serverEndPoint, expected.serverEndPoint),
      (claimed.tlsServerCertificate, expected.tlsServerCertificate),
      (claimed.tlsUnique, expected.tlsUnique), (claimed.channelIDPublicKey, expected.channelIDPublicKey),
    ] {
      // An empty certificate means that the client cannot determine it; "unused" means that there is no channel id.
      guard let claimed, !claimed.isEmpty, claimed != "unused" else { continue }
      guard let expected, Base64URL.decodePadded(claimed) == Base64URL.decodePadded(expected) else {
        return nil
      }
      isPresent = true
    }
    return isPresent
  }
}
