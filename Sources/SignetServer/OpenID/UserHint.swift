import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem

/// Resolves the user that a client names (CIBA section 7.1).
struct UserHint: Sendable {
  private static let types = ["jwt"]

  private let context: ServiceContext
  private let names: OpenIDNames

  init(_ context: ServiceContext) {
    self.context = context
    names = OpenIDNames(context.settings.serverURL)
  }

  /// Returns the user of a hint.
  ///
  /// For a user id, it does not check that the user exists.
  ///
  /// - Throws: ``OpenIDFailure``.
  func user(for hint: BackchannelRequest.Hint, of client: ClientRecord) async throws -> UserID {
    switch hint {
    case .user(let text): try Self.user(text)
    case .token(let text): try Self.user(await token(text, of: client))
    case .idToken(let text): try Self.user(await idToken(text, of: client))
    }
  }

  private static func user(_ text: String) throws -> UserID {
    do throws(WireFailure) { return try UserID(text) } catch {
      throw OpenIDFailure.unknownUser
    }
  }

  /// Verifies a token signed by the client, with a subject identifier (RFC 9493) of the format `opaque` or `iss_sub`.
  private func token(_ text: String, of client: ClientRecord) async throws -> String {
    let claims: JWTClaims
    do throws(JOSEFailure) {
      claims = try ClientToken(text).claims(
        of: client, signedWith: OpenIDNames.clientAlgorithms, for: [names.issuer], types: Self.types,
        now: context.clock.now)
    } catch {
      if error == .expired {
        throw OpenIDFailure(.expiredLoginHintToken, "Send a login_hint_token whose exp has not passed.")
      }
      throw OpenIDFailure(
        .invalidRequest,
        "login_hint_token is not valid; check its signature, alg, typ, iss, aud (the issuer), exp and nbf.")
    }
    let subject: String
    do throws(JSONFailure) {
      let named = try claims.all.object("sub_id")
      switch JSONValue.string(try named.string("format")) {
      case "opaque": return try named.string("id")
      case "iss_sub" where named["iss"] == .string(names.issuer): subject = try named.string("sub")
      default: throw .missingMember("sub_id")
      }
    } catch {
      throw OpenIDFailure(
        .invalidRequest,
        "Put a sub_id of the format opaque or iss_sub, with iss the issuer, into login_hint_token.")
    }
    return try await id(of: subject)
  }

  /// Returns the id of the user with this `sub` in tokens.
  private func id(of subject: String) async throws -> String {
    guard let user = try await context.storage.user(subject: subject) else { throw OpenIDFailure.unknownUser }
    return user.id.text
  }

  /// Verifies an ID token that this server issued to the client; it may have expired.
  private func idToken(_ text: String, of client: ClientRecord) async throws -> String {
    let published = try await SigningKeyService(context).published().json
    let subject: String
    do {
      let verified = try JWS(compact: text).verified(
        with: VerificationKeySet(JWKSet(published)), allowing: [.es256])
      let claims = try JSONObject(parsing: verified.payload)
      guard verified.header.type == IDTokenSigner.idTokenType, claims["iss"] == .string(names.issuer),
        claims["aud"] == .id(client.id)
      else { throw JOSEFailure.wrongAudience }
      subject = try claims.string("sub")
    } catch {
      throw OpenIDFailure(
        .invalidRequest,
        "id_token_hint is not an ID token that was issued to this client; send login_hint instead.")
    }
    return try await id(of: subject)
  }
}
