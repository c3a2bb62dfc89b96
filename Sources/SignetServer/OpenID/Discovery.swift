import SignetJOSE
package import SignetJSON
import SignetStorage

extension OpenIDNames {
  /// Returns the discovery document (OpenID Connect Discovery section 3, CIBA section 4).
  ///
  /// - Parameter requirements: The requirements that clients can request by name.
  /// - Returns: The members.
  package func discovery(_ requirements: NamedRequirements) -> JSONObject {
    let algorithms = JSONValue.array(Self.clientAlgorithms.map { .string($0.rawValue) })
    return [
      "issuer": .string(issuer),
      "jwks_uri": .string(keySet),
      "token_endpoint": .string(tokenEndpoint),
      "backchannel_authentication_endpoint": .string(backchannelEndpoint),
      "grant_types_supported": [.string(Self.grantType)],
      "response_types_supported": [],
      "scopes_supported": [.string(Self.scope)],
      "subject_types_supported": ["public"],
      "id_token_signing_alg_values_supported": ["ES256"],
      "token_endpoint_auth_methods_supported": .array(
        ClientRecord.Authentication.allCases.map { .string($0.rawValue) }),
      "token_endpoint_auth_signing_alg_values_supported": algorithms,
      "backchannel_token_delivery_modes_supported": .array(
        ClientRecord.Delivery.allCases.map { .string($0.rawValue) }),
      "backchannel_authentication_request_signing_alg_values_supported": algorithms,
      "backchannel_user_code_parameter_supported": true,
      "acr_values_supported": .array(requirements.names.map { .string($0) }),
      "claims_supported": [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "acr", "amr", "at_hash",
        .string(IDTokenSigner.userClaim),
        "signet_decision", "signet_key", .string(IDTokenSigner.protectionClaim),
      ],
      "request_parameter_supported": false,
      "request_uri_parameter_supported": false,
      "claims_parameter_supported": false,
    ]
  }
}
