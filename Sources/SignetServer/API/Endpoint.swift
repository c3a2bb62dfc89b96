package import SignetHTTPServer
package import SignetJSON
import SignetProtocol
import SignetStorage

/// The effect of an operation on the account that it concerns.
package enum Effect: String, Hashable, Sendable, CaseIterable {
  /// Accepts a code or a decision, authenticates, registers or renews. The user and the device must be active.
  case grant
  /// Denies, cancels or removes. This also works for a locked account.
  case refuse
  /// Accepts a report, a receipt or the notice of an end, also from a suspended account, and grants nothing.
  case attest
  /// Changes stored data for an operator or a relying party.
  case manage
  /// Returns stored data to an authorized caller.
  case read
  /// Returns public data, which concerns no account.
  case publish
}

/// The groups in the API description.
package enum EndpointGroup: String, Hashable, Sendable, CaseIterable {
  case server, activation, renewal, device
  case deviceTransactions = "transactions of a device"
  case pushes
  case codes = "one-time passwords"
  case transactions, users
  case keys = "API keys"
  case tokens
  case signingKeys = "signing keys"
  case audit
  case openID = "OpenID Connect"
  case uaf = "FIDO UAF"
  case pushApps = "authenticator apps"
}

/// The beginning of an endpoint's path.
package enum PathBase: Hashable, Sendable {
  /// `/DOMAIN/v1`
  case version1
  /// `/DOMAIN`
  case domain
  /// The prefix of UAF, at the root of the server.
  case uaf
}

package enum EndpointMethod: String, Hashable, Sendable {
  case get = "GET"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
}

/// The definition of an endpoint, without its handler.
///
/// The router, the authentication, the API description, the client of `signet-server` and the tests over all routes use it.
package struct Endpoint<Caller: Sendable, Input: Sendable, Output: Sendable>: Sendable {
  /// The endpoint without its types.
  package let description: EndpointDescription
  /// The credential that a caller needs.
  package let credential: Credential<Caller>
  package let input: RequestShape<Input>
  /// The answer of a request that succeeds.
  package let output: AnswerShape<Output>

  /// Defines an endpoint.
  ///
  /// - Parameters:
  ///   - method: The HTTP method.
  ///   - path: The path after `base`; names in braces are cases of ``PathParameter``.
  ///   - effect: The effect of the operation.
  ///   - id: The name of the operation, unique among all endpoints.
  ///   - summary: Its purpose, in one line.
  ///   - details: A reference to further documentation.
  ///   - group: Its group in the description.
  ///   - credential: The credential that a caller needs.
  ///   - input: The content of a request.
  ///   - output: The answer of a request that succeeds.
  ///   - refusals: Refusals in addition to those of every endpoint of this dialect.
  ///   - base: The beginning of the path.
  ///   - dialect: The protocol, which defines the form of refusals.
  init(
    _ method: EndpointMethod, _ path: String, _ effect: Effect, _ id: String, _ summary: String,
    details: String? = nil, in group: EndpointGroup, by credential: Credential<Caller>,
    takes input: RequestShape<Input>, answers output: AnswerShape<Output>, or refusals: [Refusal] = [],
    below base: PathBase = .version1, _ dialect: Dialect = .signet
  ) {
    self.credential = credential
    self.input = input
    self.output = output
    description = EndpointDescription(
      method: method, path: path, base: base, effect: effect, id: id, summary: summary, details: details,
      group: group, access: credential.access, request: input.description, answers: output.answers,
      refusals: dialect.refusals(of: input.description, credential.access) + refusals, dialect: dialect)
  }

  /// Defines an endpoint whose request has no content except its path.
  init(
    _ method: EndpointMethod, _ path: String, _ effect: Effect, _ id: String, _ summary: String,
    details: String? = nil, in group: EndpointGroup, by credential: Credential<Caller>,
    answers output: AnswerShape<Output>, or refusals: [Refusal] = [], below base: PathBase = .version1,
    _ dialect: Dialect = .signet
  ) where Input == Void {
    self.init(
      method, path, effect, id, summary, details: details, in: group, by: credential, takes: .nothing,
      answers: output, or: refusals, below: base, dialect)
  }
}

extension Endpoint {
  /// Returns the content of a client's request.
  ///
  /// - Returns: The query and the body.
  /// - Precondition: The server's own client calls this endpoint.
  package func content(_ input: Input) -> RequestContent {
    guard let write = self.input.write else { preconditionFailure("no client sends \(description.id)") }
    return write(input)
  }

  /// Parses a server's answer, which may come from another version or from an attacker.
  ///
  /// - Throws: The failure to parse the message.
  /// - Precondition: The endpoint answers with a message.
  package func message(in answer: JSONObject) throws -> Output {
    guard let read = output.read else { preconditionFailure("\(description.id) answers with no message") }
    return try read(answer)
  }
}

/// An endpoint of any types.
package protocol DescribedEndpoint: Sendable {
  /// The endpoint without its types.
  var description: EndpointDescription { get }
}

extension Endpoint: DescribedEndpoint {}

/// An endpoint without its types.
package struct EndpointDescription: Sendable {
  package let method: EndpointMethod
  package let path: String
  package let base: PathBase
  package let effect: Effect
  package let id: String
  package let summary: String
  package let details: String?
  package let group: EndpointGroup
  package let access: Access
  package let request: RequestDescription
  package let answers: [AnswerDescription]
  package let refusals: [Refusal]
  package let dialect: Dialect

  /// Returns the path in the API description: below the domain, or below the server's root for UAF.
  package func path(uaf prefix: String) -> String {
    switch base {
    case .version1: "/v1" + path
    case .domain: path
    case .uaf: prefix + path
    }
  }

  func route(of domain: String, uaf prefix: String) -> String {
    base == .uaf ? path(uaf: prefix) : "/\(domain)" + path(uaf: prefix)
  }

  /// The parameters in braces, in order.
  package var parameters: [PathParameter] {
    path.split(separator: "/").filter { $0.hasPrefix("{") }.map { segment in
      guard let parameter = PathParameter(rawValue: String(segment.dropFirst().dropLast())) else {
        preconditionFailure("\(path) has a parameter that PathParameter does not describe")
      }
      return parameter
    }
  }
}

package enum PathParameter: String, Hashable, Sendable, CaseIterable {
  case id, user, serial, aaid, key, device

  /// The text in the API description.
  var text: String {
    switch self {
    case .id: "The id."
    case .user: "The user id, percent-encoded where necessary."
    case .serial: "The serial number, percent-encoded where necessary."
    case .aaid: "The authenticator's model, such as `7357#0001`."
    case .key: "The key's id, base64url."
    case .device: "The id that the device reports."
    }
  }

  var schema: JSONSchema {
    switch self {
    case .id, .aaid, .key, .device: Shape.text(1...).schema
    case .user: Shape.text(1...128).schema
    case .serial: Shape.text(1...64).schema
    }
  }
}

/// A request with its authenticated caller and its content.
package struct Call<Caller: Sendable, Input: Sendable>: Sendable {
  package let caller: Caller
  package let input: Input
  package let request: ServerRequest

  /// Returns the value of a parameter of the path.
  ///
  /// - Precondition: The endpoint's path has the parameter.
  package subscript(parameter: PathParameter) -> String {
    guard let value = request.parameters[parameter.rawValue] else {
      preconditionFailure("the path has no \(parameter.rawValue)")
    }
    return value
  }

  /// Returns the id in the path, without a check of its form.
  ///
  /// If a row's id was altered in the database, an operator can still revoke the row by that id. Any other malformed id
  /// matches no row.
  func id<Named>() -> ID<Named> { ID(unchecked: self[.id]) }

  func user() throws(Problem) -> UserID { try reading(UserID(self[.user])) }

  func serial() throws(Problem) -> TokenSerial { try TokenSerial(self[.serial]) }
}

/// An endpoint with its handler.
package struct Route: Sendable {
  /// The endpoint without its types.
  package var endpoint: EndpointDescription { definition.description }
  /// The endpoint with its types.
  let definition: any DescribedEndpoint
  private let answer: (@Sendable (CallerAuthentication, ServerRequest) async -> ServerResponse)?
  private let answerDirectly: @Sendable (CallerAuthentication, ServerRequest, Responder) -> Void

  fileprivate init(
    _ definition: any DescribedEndpoint,
    _ answer: @escaping @Sendable (CallerAuthentication, ServerRequest) async -> ServerResponse
  ) {
    (self.definition, self.answer) = (definition, answer)
    answerDirectly = { authentication, request, responder in
      responder.answer { await answer(authentication, request) }
    }
  }

  fileprivate init(
    _ definition: any DescribedEndpoint,
    directly answer: @escaping @Sendable (CallerAuthentication, ServerRequest, Responder) -> Void
  ) {
    self.definition = definition
    self.answer = nil
    answerDirectly = answer
  }

  /// Returns a handler that authenticates callers with `authentication`.
  func handler(_ authentication: CallerAuthentication) -> DirectHandler {
    { request, responder in answerDirectly(authentication, request, responder) }
  }

  /// Answers a request; returns `nil` for a route whose answers need a connection.
  package func response(to request: ServerRequest, _ authentication: CallerAuthentication) async
    -> ServerResponse?
  {
    await answer?(authentication, request)
  }
}

extension Endpoint {
  /// Returns a route that answers requests with a handler.
  ///
  /// - Parameter handler: Answers a request of an authorized caller.
  /// - Returns: The route.
  func answered(
    by handler: @escaping @Sendable (Call<Caller, Input>) async throws -> Output
  ) -> Route {
    let (credential, input, output, dialect) = (credential, input, output, description.dialect)
    return Route(self) { authentication, request in
      do {
        try input.checkTypes(request)
        let caller = try await credential.find(authentication, request)
        let call = Call(caller: caller, input: try input.read(request), request: request)
        return output.response(try await handler(call))
      } catch { return dialect.response(to: error, authentication.context) }
    }
  }

  /// Returns a route whose handler may answer later.
  ///
  /// - Parameter handler: Answers a request of an authorized caller through its responder, at once or later.
  /// - Returns: The route.
  func answered(
    waiting handler: @escaping @Sendable (Call<Caller, Input>, Responder) async throws -> Void
  ) -> Route where Output == ServerResponse {
    let (credential, input, dialect) = (credential, input, description.dialect)
    return Route(
      self,
      directly: { authentication, request, responder in
        responder.run {
          do {
            try input.checkTypes(request)
            let caller = try await credential.find(authentication, request)
            try await handler(
              Call(caller: caller, input: try input.read(request), request: request), responder)
          } catch { responder.answer(dialect.response(to: error, authentication.context)) }
        }
      })
  }

  /// Returns a route whose handler runs without a task: on the thread that received the request, which must not block.
  ///
  /// The committing thread may send the answer.
  ///
  /// - Parameter handler: Answers a request of an authorized caller, in the form of the endpoint's answer. If the caller was
  ///   found in memory and has changed since, the handler calls `restart`, which is `nil` if the caller was just read.
  /// - Returns: The route.
  func answered(
    directly handler:
      @escaping @Sendable (Call<Caller, Input>, Responder, _ restart: (@Sendable () -> Void)?) throws ->
      Void
  ) -> Route {
    let (credential, input, dialect) = (credential, input, description.dialect)
    @Sendable func fromStorage(
      _ authentication: CallerAuthentication, _ request: ServerRequest, _ responder: Responder
    ) {
      responder.run {
        do {
          let caller = try await credential.find(authentication, request)
          let call = Call(caller: caller, input: try input.read(request), request: request)
          try handler(call, responder, nil)
        } catch { responder.answer(dialect.response(to: error, authentication.context)) }
      }
    }
    return Route(
      self,
      directly: { authentication, request, responder in
        do {
          try input.checkTypes(request)
          guard let caller = try credential.findInMemory(authentication, request) else {
            // One read from the storage; later requests of this caller find it in memory.
            return fromStorage(authentication, request, responder)
          }
          let call = Call(caller: caller, input: try input.read(request), request: request)
          try handler(call, responder) { fromStorage(authentication, request, responder) }
        } catch { responder.answer(dialect.response(to: error, authentication.context)) }
      })
  }
}
