/// Why a server does not accept a response.
package enum UAFRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is no message of the wanted kind.
  case message(MessageFailure)
  /// `serverData` is not what the server wrote.
  case serverData
  /// The application is another than the wanted one.
  case appID
  /// The caller of the client is none of the application's.
  case facetID
  /// The challenge is not the one that was issued.
  case challenge
  /// The channel is another, or is not said where it has to be.
  case channelBinding
  /// Too few assertions hold for what the policy wants: what is wrong with each of the others, the first counts.
  case assertions([RefusedAssertion])
  /// The assertions hold, but are no combination that the policy wants.
  case policy

  /// What the server says to the client.
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
    case .assertions(let refused): refused.first?.reason.description ?? "no assertion holds"
    case .policy: "the authenticators are no combination that the policy accepts"
    }
  }
}
