import SignetCrypto

/// How a response has to be tied to the TLS connection.
package enum ChannelBindingRule: Hashable, Sendable {
  /// Nothing is asked of it: the connection ends at a proxy that does not tell.
  case notChecked
  /// What is said has to be true, but nothing has to be said.
  case whereSaid(UAFChannelBinding)
  /// Something has to be said, and be true.
  case required(UAFChannelBinding)

  /// Whether what a client says will do.
  func accepts(_ said: UAFChannelBinding) -> Bool {
    switch self {
    case .notChecked: true
    case .whereSaid(let own): Self.agree(said, own) != nil
    case .required(let own): Self.agree(said, own) == true
    }
  }

  /// Whether anything is said; nil where it is not true.
  private static func agree(_ said: UAFChannelBinding, _ own: UAFChannelBinding) -> Bool? {
    var isSaid = false
    for (said, own) in [
      (said.serverEndPoint, own.serverEndPoint), (said.tlsServerCertificate, own.tlsServerCertificate),
      (said.tlsUnique, own.tlsUnique), (said.channelIDPublicKey, own.channelIDPublicKey),
    ] {
      // An empty certificate says that the client cannot tell, "unused" that there is no channel id.
      guard let said, !said.isEmpty, said != "unused" else { continue }
      guard let own, Base64URL.decodePadded(said) == Base64URL.decodePadded(own) else { return nil }
      isSaid = true
    }
    return isSaid
  }
}
