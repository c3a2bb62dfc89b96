package import SignetHTTP
import SignetStorage
import SignetWire

/// What clients of OpenID Connect call (`docs/protocol.md` section 11).
package struct OpenIDEndpoints: Sendable {
  private let names: OpenIDNames
  private let authentication: ClientAuthentication
  private let requests: BackchannelService
  private let grant: TokenGrant

  /// Over a context.
  package init(_ context: ServiceContext, _ transactions: TransactionService) {
    names = OpenIDNames(context.settings.serverURL)
    authentication = ClientAuthentication(context)
    requests = BackchannelService(context, authentication, transactions)
    grant = TokenGrant(context)
  }

  func discover(_ request: ServerRequest) async -> ServerResponse { .json(names.discovery) }

  package func authorize(_ request: ServerRequest) async -> ServerResponse {
    do throws(OpenIDFailure) {
      let (form, client) = try await authenticated(request)
      return .json(try await requests.take(form, from: client))
    } catch { return error.response }
  }

  package func token(_ request: ServerRequest) async -> ServerResponse {
    do throws(OpenIDFailure) {
      let (form, client) = try await authenticated(request)
      var response = ServerResponse.json(try await grant.answer(form, to: client))
      response.headers["Pragma"] = "no-cache"  // RFC 6749 section 5.1
      return response
    } catch { return error.response }
  }

  private func authenticated(
    _ request: ServerRequest
  ) async throws(OpenIDFailure) -> (FormParameters, ClientRecord) {
    let form = try FormParameters(contentType: request.headers["Content-Type"], body: request.body)
    guard request.headers.values(for: "Authorization").count <= 1 else {
      throw OpenIDFailure.twoAuthentications
    }
    let client = try await authentication.client(
      authorization: request.headers["Authorization"], form: form)
    return (form, client)
  }
}
