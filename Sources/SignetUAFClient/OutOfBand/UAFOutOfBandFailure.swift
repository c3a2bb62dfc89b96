import SignetUAF

/// A reason why the token of a payload could not be redeemed.
@nonexhaustive public enum UAFOutOfBandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server could not be reached, or rejected the request.
  case network(UAFNetworkProblem)
  /// The token has expired.
  case tokenExpired(server: String)
  /// The token was redeemed before.
  case tokenAlreadyRedeemed(server: String)
  /// The payload leads to a server that this device does not trust.
  case serverNotTrusted(String)
  /// The exchange ended with this UAF error code: the answer names no operation, or the URL is not secure.
  case fido(UAFClientError)
  /// The vault of this device could not be read.
  case device(SignetError)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .network(let problem): problem.description
    case .tokenExpired: "this request is too old; ask for a new one"
    case .tokenAlreadyRedeemed: "this request was used before; ask for a new one"
    case .serverNotTrusted(let server):
      "this request is from \(server), where this device has no account; name that server if you trust it"
    case .fido(let code): code.meaning
    case .device(let failure): failure.description
    }
  }
}

/// A reason why an out-of-band payload could not be decoded.
@nonexhaustive public enum UAFPayloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload is encrypted for another device, or for a deleted key.
  case decryption
  /// The input is not a valid payload.
  case malformed(String)
  /// The vault of this device could not be read.
  case device(SignetError)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .decryption: "this is encrypted for another device, or for a key that this one no longer has"
    case .malformed(let reason): "this is not a request to this device: \(reason)"
    case .device(let failure): failure.description
    }
  }
}
