/// The reasons to reject a response.
package enum UAFRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is no message of the expected kind.
  case message(MessageFailure)
  /// `serverData` differs from the server's.
  case serverData
  /// The appID is not the expected one.
  case appID
  /// The caller of the client is not trusted by the application.
  case facetID
  /// The challenge is not the issued one.
  case challenge
  /// The channel binding does not match, or is absent although required.
  case channelBinding
  /// Too few valid assertions for the policy; the values are the rejected ones, of which the first determines the status.
  case assertions([RefusedAssertion])
  /// The assertions are valid, but are no combination that the policy accepts.
  case policy

  /// The status that the server returns to the client.
  package var status: UAFStatus {
    switch self {
    case .message(.unknownExtension): .unacceptableContent
    case .message: .badRequest
    case .serverData, .challenge: .requestInvalid
    case .appID, .facetID: .unacceptableContent
    case .channelBinding: .channelBindingRefused
    case .assertions(let refused): refused.first?.reason.status ?? .unacceptableContent
    case .policy: .unacceptableAuthenticator
    }
  }

  package var description: String {
    switch self {
    case .message(let failure): failure.description
    case .serverData: "serverData is not what the server wrote"
    case .appID: "the appID is not the one of the request"
    case .facetID: "the facetID is not trusted"
    case .challenge: "the challenge is not the one that was issued"
    case .channelBinding: "the channel binding is not that of the connection"
    case .assertions(let refused): refused.first?.reason.description ?? "no assertion is valid"
    case .policy: "the policy does not accept this combination of authenticators"
    }
  }
}
