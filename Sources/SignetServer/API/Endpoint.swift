package import SignetHTTP
package import SignetJSON
import SignetStorage
import SignetWire

/// What an operation does to the account that it is about.
package enum Effect: String, Hashable, Sendable, CaseIterable {
  /// Accepts a code or a decision, authenticates, registers or renews: everything has to be active.
  case grant
  /// Denies, cancels or removes: works when locked too.
  case refuse
  /// Takes a report, a receipt or the notice of an end: from suspended ones too, and grants nothing.
  case attest
  /// Changes what the server keeps, for an operator or a relying party.
  case manage
  /// Shows what the server keeps, to who may see it.
  case read
  /// Answers anybody, and nothing of it is about an account.
  case publish
}

/// The groups of the description.
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

/// What the path of an endpoint begins with.
package enum PathBase: Hashable, Sendable {
  /// `/DOMAIN/v1`
  case version1
  /// `/DOMAIN`
  case domain
  /// The prefix of UAF, at the root of the server.
  case uaf
}

/// The methods of endpoints.
package enum EndpointMethod: String, Hashable, Sendable {
  case get = "GET"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
}

/// A request that the server answers, with all that is known of it before there is a handler.
///
/// Router, authentication, description, the client of `signet-server` and the tests over all routes read it.
package struct Endpoint<Caller: Sendable, Input: Sendable, Output: Sendable>: Sendable {
  /// All of it but the types.
  package let description: EndpointDescription
  /// Who may ask.
  package let credential: Credential<Caller>
  /// What a request carries.
  package let input: RequestShape<Input>
  /// What is answered where nothing is refused.
  package let output: AnswerShape<Output>

  /// Defines an endpoint.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - path: The path after `base`; names in braces are cases of ``PathParameter``.
  ///   - effect: What the operation does.
  ///   - id: The name of the operation, unique among all endpoints.
  ///   - summary: What it is for, in a line.
  ///   - details: Where to read on.
  ///   - group: Its group in the description.
  ///   - credential: Who may ask.
  ///   - input: What a request carries.
  ///   - output: What is answered where nothing is refused.
  ///   - refusals: Further refusals, beside those of every endpoint of this dialect.
  ///   - base: What the path begins with.
  ///   - dialect: The protocol, which has the form of refusals.
  init(
    _ method: EndpointMethod, _ path: String, _ effect: Effect, _ id: String, _ summary: String,
    details: String? = nil, in group: EndpointGroup, by credential: Credential<Caller>,
    takes input: RequestShape<Input>, answers output: AnswerShape<Output>, or refusals: [Refusal] = [],
    below base: PathBase = .version1, _ dialect: Dialect = .signet
  ) {
    (self.credential, self.input, self.output) = (credential, input, output)
    description = EndpointDescription(
      method: method, path: path, base: base, effect: effect, id: id, summary: summary, details: details,
      group: group, access: credential.access, request: input.description, answers: output.answers,
      refusals: dialect.refusals(of: input.description, credential.access) + refusals, dialect: dialect)
  }

  /// Defines an endpoint whose request carries nothing beside its path.
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
  /// What a client puts into a request.
  ///
  /// - Returns: Query and body.
  /// - Precondition: The server's own client sends what the endpoint takes.
  package func content(_ input: Input) -> RequestContent {
    guard let write = self.input.write else { preconditionFailure("no client sends \(description.id)") }
    return write(input)
  }

  /// Reads what a server has answered, which may be of another version, or hostile.
  ///
  /// - Throws: What does not fit the message.
  /// - Precondition: The endpoint answers with a message.
  package func message(in answer: JSONObject) throws -> Output {
    guard let read = output.read else { preconditionFailure("\(description.id) answers with no message") }
    return try read(answer)
  }
}

/// What has the description of an endpoint, whatever its types are.
package protocol DescribedEndpoint: Sendable {
  /// All of the endpoint but the types.
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

  /// The path in the description: below the domain, or below nothing for UAF.
  package func path(uaf prefix: String) -> String {
    switch base {
    case .version1: "/v1" + path
    case .domain: path
    case .uaf: prefix + path
    }
  }

  /// The path of requests.
  func route(of domain: String, uaf prefix: String) -> String {
    base == .uaf ? path(uaf: prefix) : "/\(domain)" + path(uaf: prefix)
  }

  /// The names in braces, in order.
  package var parameters: [PathParameter] {
    path.split(separator: "/").filter { $0.hasPrefix("{") }.map { segment in
      guard let parameter = PathParameter(rawValue: String(segment.dropFirst().dropLast())) else {
        preconditionFailure("\(path) has a parameter that PathParameter does not describe")
      }
      return parameter
    }
  }
}

/// A parameter of a path.
package enum PathParameter: String, Hashable, Sendable, CaseIterable {
  case id, user, serial, aaid, key, device

  /// What the description says.
  var text: String {
    switch self {
    case .id: "The id."
    case .user: "The user id, percent-encoded where it needs it."
    case .serial: "The serial number, percent-encoded where it needs it."
    case .aaid: "The authenticator's model, such as `7357#0001`."
    case .key: "The key's id, base64url."
    case .device: "What the device calls itself."
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
  /// Who asks.
  package let caller: Caller
  /// What a request carries.
  package let input: Input
  /// The request.
  package let request: ServerRequest

  /// The value of a parameter of the path.
  ///
  /// - Precondition: The endpoint's path has the parameter.
  package subscript(parameter: PathParameter) -> String {
    guard let value = request.parameters[parameter.rawValue] else {
      preconditionFailure("the path has no \(parameter.rawValue)")
    }
    return value
  }

  /// The id in the path, as the type of what it names.
  ///
  /// Its form is not checked, so that an operator can revoke what has another id since its row was altered. Else it names nothing.
  func id<Named>() -> ID<Named> { ID(unchecked: self[.id]) }

  /// The user in the path.
  func user() throws(Problem) -> UserID { try reading(UserID(self[.user])) }

  /// The serial number in the path.
  func serial() throws(Problem) -> TokenSerial { try TokenSerial(self[.serial]) }
}

/// An endpoint with its handler.
package struct Route: Sendable {
  /// The endpoint.
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
    (self.definition, self.answer, answerDirectly) = (definition, nil, answer)
  }

  /// Answers requests whose callers `authentication` finds.
  func handler(_ authentication: CallerAuthentication) -> DirectHandler {
    { request, responder in answerDirectly(authentication, request, responder) }
  }

  /// Answers a request; `nil` for a route whose answers need a connection.
  package func response(to request: ServerRequest, _ authentication: CallerAuthentication) async
    -> ServerResponse?
  {
    await answer?(authentication, request)
  }
}

extension Endpoint {
  /// Has requests answered by a handler.
  ///
  /// - Parameter handler: Answers a request of a caller who may ask.
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

  /// Has requests answered by a handler that may leave the answer to somebody else.
  ///
  /// - Parameter handler: Answers a request of a caller who may ask, by its responder, now or later.
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

  /// Has requests answered without a task: by the thread that they come on, which must not block, or by the thread that commits.
  ///
  /// - Parameter handler: Answers a request of a caller who may ask, in the form of the endpoint's answer. Where the caller was found in memory and has changed since, it
  ///   calls `startOver`, which is `nil` where the caller was just read.
  /// - Returns: The route.
  func answered(
    directly handler:
      @escaping @Sendable (Call<Caller, Input>, Responder, _ startOver: (@Sendable () -> Void)?) throws ->
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
            // One read, for all requests of this caller after it.
            return fromStorage(authentication, request, responder)
          }
          let call = Call(caller: caller, input: try input.read(request), request: request)
          try handler(call, responder) { fromStorage(authentication, request, responder) }
        } catch { responder.answer(dialect.response(to: error, authentication.context)) }
      })
  }
}
