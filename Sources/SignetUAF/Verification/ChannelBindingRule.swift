import SignetCrypto

/// The required binding of a response to the TLS connection.
package enum ChannelBindingRule: Hashable, Sendable {
  /// The binding is not verified, for example behind a proxy that does not forward it.
  case notChecked
  /// A present binding must match, but it may be absent.
  case whereSaid(UAFChannelBinding)
  /// A binding must be present and match.
  case required(UAFChannelBinding)

  /// Indicates whether the client's binding is accepted.
  func accepts(_ said: UAFChannelBinding) -> Bool {
    switch self {
    case .notChecked: true
    case .whereSaid(let own): Self.agree(said, own) != nil
    case .required(let own): Self.agree(said, own) == true
    }
  }

  /// Returns whether a binding is present; `nil` if it does not match.
  private static func agree(_ said: UAFChannelBinding, _ own: UAFChannelBinding) -> Bool? {
    var isSaid = false
    for (said, own) in [
      (said.serverEndPoint, own.serverEndPoint), (said.tlsServerCertificate, own.tlsServerCertificate),
      (said.tlsUnique, own.tlsUnique), (said.channelIDPublicKey, own.channelIDPublicKey),
    ] {
      // An empty certificate means that the client cannot determine it; "unused" means that there is no channel id.
      guard let said, !said.isEmpty, said != "unused" else { continue }
      guard let own, Base64URL.decodePadded(said) == Base64URL.decodePadded(own) else { return nil }
      isSaid = true
    }
    return isSaid
  }
}
