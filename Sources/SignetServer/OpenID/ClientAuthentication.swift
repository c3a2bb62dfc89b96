import SignetCrypto
import SignetHTTPServer
import SignetJOSE
import SignetProtocol
import SignetStorage
import SignetSystem

/// Authenticates the client of a request (OpenID Connect Core section 9).
struct ClientAuthentication: Sendable {
  private static let types = ["jwt", "client-authentication+jwt", "application/client-authentication+jwt"]
  /// The form parameters that authenticate a client.
  static let parameterNames = ["client_id", "client_assertion", "client_assertion_type", "client_secret"]

  private let context: ServiceContext
  private let names: OpenIDNames

  init(_ context: ServiceContext) {
    self.context = context
    names = OpenIDNames(context.settings.serverURL)
  }

  /// Authenticates a request and claims its assertion's id, so that a replay is rejected.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - form: The parameters.
  /// - Returns: The client.
  /// - Throws: ``OpenIDFailure``: `invalid_client`, for any reason; `invalid_request` for two methods at once.
  func client(authorization: String?, form: FormParameters) async throws -> ClientRecord {
    let hasAssertion = form.hasAny(of: ["client_assertion", "client_assertion_type"])
    guard [authorization != nil, hasAssertion, form["client_secret"] != nil].count(where: { $0 }) <= 1 else {
      throw OpenIDFailure.twoAuthentications
    }
    let client: ClientRecord
    if let authorization {
      client = try await withSecret(authorization)
    } else if hasAssertion {
      client = try await withAssertion(form)
    } else {
      throw refused("no authentication")
    }
    if let named = form["client_id"], !named.hasSameBytes(as: client.id.text) {
      throw refused("another client_id")
    }
    return client
  }

  private func refused(_ reason: String) -> OpenIDFailure {
    context.log.sampled("client.refused", ["reason": reason])
    return .unauthenticated
  }

  // MARK: Secrets

  private func withSecret(_ authorization: String) async throws -> ClientRecord {
    guard let (id, secret) = Self.credentials(authorization) else { throw refused("no Basic credentials") }
    let found = try await find(id)
    // An unknown client costs the same comparison, in constant time.
    let digest = found?.secretDigest ?? [UInt8](repeating: 0, count: 32)
    let isSame = constantTimeEqual(digest, ClientService.digest(ofSecret: secret))
    guard isSame, let client = found, client.authentication == .clientSecretBasic, client.revoked == nil
    else { throw refused("wrong secret") }
    return client
  }

  /// Returns id and secret, each of which is form-encoded (RFC 6749 section 2.3.1).
  static func credentials(_ authorization: String) -> (id: String, secret: String)? {
    guard authorization.utf8.count <= 1_024, authorization.lowercased().hasPrefix("basic ") else {
      return nil
    }
    do {
      let decoded = try Base64.decode(String(authorization.dropFirst("basic ".count)))
      guard let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
        let id = text(decoded[..<colon]), let secret = text(decoded[(colon + 1)...])
      else { return nil }
      return (id, secret)
    } catch { return nil }
  }

  private static func text(_ encoded: ArraySlice<UInt8>) -> String? {
    guard let raw = String(validating: encoded, as: UTF8.self), !raw.contains("&"), !raw.contains("=") else {
      return nil
    }
    do throws(RequestRefusal) { return try QueryParameters(raw: raw).items.first?.name } catch { return nil }
  }

  // MARK: Assertions

  private func withAssertion(_ form: FormParameters) async throws -> ClientRecord {
    guard let type = form["client_assertion_type"], type.hasSameBytes(as: OpenIDNames.assertionType),
      let text = form["client_assertion"]
    else { throw refused("no assertion of a supported type") }
    let token: ClientToken
    do throws(JOSEFailure) { token = try ClientToken(text) } catch { throw refused("\(error)") }
    guard let id = token.unverifiedSubject, let client = try await find(id),
      client.authentication == .privateKeyJWT, client.revoked == nil
    else { throw refused("the subject of the assertion is not a client with private_key_jwt") }
    let claims: JWTClaims
    do throws(JOSEFailure) {
      claims = try token.claims(
        of: client, signedWith: OpenIDNames.clientAlgorithms, for: names.assertionAudiences,
        types: Self.types, now: context.clock.now)
    } catch { throw refused("\(error)") }
    guard let subject = claims.subject, subject.hasSameBytes(as: client.id.text) else {
      throw refused("the subject of the assertion is another client")
    }
    guard try await claimTokenID(claims, of: client) else {
      throw refused("the assertion was used before")
    }
    return client
  }

  /// Claims the id of a token, so that a replay is rejected.
  ///
  /// - Parameters:
  ///   - claims: The claims of the token.
  ///   - client: The client that issued the token.
  /// - Returns: True if the id was not used before; false also for a token without an id.
  /// - Throws: ``OpenIDFailure``.
  func claimTokenID(_ claims: JWTClaims, of client: ClientRecord) async throws -> Bool {
    guard let name = claims.tokenID, (1...256).contains(name.utf8.count) else { return false }
    let digest = HashFunction.sha256.digest(of: Array(name.utf8))
    return try await context.storage.claimID(
      Array(digest.prefix(16)), of: "client:\(client.id)",
      expires: claims.end + DeviceAuthentication.clockStep)
  }

  private func find(_ id: String) async throws -> ClientRecord? {
    guard let id = ID<ClientRecord>(checking: id) else { return nil }
    return try await context.storage.client(id)
  }
}
