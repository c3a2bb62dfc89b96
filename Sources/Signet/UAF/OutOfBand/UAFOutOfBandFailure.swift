import SignetUAF

/// Why the token of a payload could not be redeemed.
@nonexhaustive public enum UAFOutOfBandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The token is too old.
  case tokenExpired(server: String)
  /// The token was redeemed before.
  case tokenAlreadyRedeemed(server: String)
  /// The payload leads to a server that this device does not go to.
  case serverNotTrusted(String)
  /// The server gives out another kind of operation than the payload says.
  case fido(UAFClientError)
  /// What this device keeps could not be read.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .network(let problem): problem.description
    case .tokenExpired: "this request is too old; ask for a new one"
    case .tokenAlreadyRedeemed: "this request was taken before; ask for a new one"
    case .serverNotTrusted(let server):
      "this leads to \(server), where this device has no account; name that server if you trust it"
    case .fido(let code): code.meaning
    case .device(let failure): failure.description
    }
  }
}
