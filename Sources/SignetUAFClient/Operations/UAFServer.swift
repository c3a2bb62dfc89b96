import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetSystem
import SignetUAF

/// A UAF server, with the transport and headers of one operation.
struct UAFServer: Sendable {
  let configuration: UAFConfiguration
  let transport: any HTTPTransport
  /// Additional headers of every request.
  var headers: [(String, String)]

  /// The server's name in accounts and failures.
  var name: String { configuration.baseURL }

  // MARK: The protocol

  /// A parsed answer of a server, with its cookies.
  struct Answer<Content: Sendable>: Sendable {
    let content: Content
    let cookies: [UAFCookie]
  }

  /// Requests a UAF request message from the server.
  func request(
    _ operation: UAFOperation, _ context: JSONObject, by authorization: UAFAuthorization?,
    signature: String? = nil
  ) async throws(UAFNetworkProblem) -> Answer<ReturnUAFRequest> {
    let signed = signedRequest(operation, context)
    let answer = try await exchange(
      signed.method, signed.url, signed.body ?? [], Self.uafType, accepting: Self.uafMedia, by: authorization,
      signature: signature)
    return try read(answer)
  }

  /// The HTTP request for a UAF request message; it is also the input of the device signature.
  func signedRequest(_ operation: UAFOperation, _ context: JSONObject) -> RequestSignatureInput {
    let path =
      switch operation {
      case .registration: configuration.registrationRequestPath
      case .authentication: configuration.authenticationRequestPath
      case .deregistration: configuration.deregistrationRequestPath
      }
    return RequestSignatureInput(
      method: .post, url: url(path),
      body: GetUAFRequest(operation: operation, context: context.text).json.bytes)
  }

  /// Redeems an out-of-band token for a UAF request message.
  func redeem(_ token: String, at url: String) async throws(UAFNetworkProblem) -> ReturnUAFRequest {
    let body: JSONObject = ["token": .string(token)]
    let answer = try await exchange(
      .post, url, body.bytes, "application/json", accepting: Self.uafMedia, by: nil)
    return try read(answer).content
  }

  /// Sends a UAF response message.
  func respond(
    _ operation: UAFOperation, _ response: String, _ context: JSONObject, by authorization: UAFAuthorization?
  ) async throws(UAFNetworkProblem) -> Answer<UAFServerResponse> {
    let path =
      operation == .registration
      ? configuration.registrationResponsePath : configuration.authenticationResponsePath
    let body = SendUAFResponse(response: response, context: context.isEmpty ? nil : context.text).json
    let answer = try await exchange(
      .post, url(path), body.bytes, Self.uafType, accepting: Self.uafMedia, by: authorization)
    do throws(MessageFailure) {
      let content = try UAFServerResponse(parsing: answer.body)
      let cookies = cookies(of: answer, from: url(path))
      // A server may send cookies in the message only.
      let tokens = cookies.isEmpty ? content.additionalTokens.filter { $0.kind == .httpCookie } : []
      return Answer(
        content: content,
        cookies: cookies + tokens.compactMap { UAFCookie(setCookie: $0.value, from: url(path)) })
    } catch { throw problem(.malformed(error.description)) }
  }

  private func read(_ answer: HTTPResponse) throws(UAFNetworkProblem) -> Answer<ReturnUAFRequest> {
    do throws(MessageFailure) {
      return Answer(
        content: try ReturnUAFRequest(parsing: answer.body),
        cookies: cookies(of: answer, from: url(configuration.authenticationRequestPath)))
    } catch { throw problem(.malformed(error.description)) }
  }

  // MARK: HTTP

  /// Sends one HTTP request; a status outside 200 to 299 is an error.
  func exchange(
    _ method: HTTPMethod, _ url: String, _ body: [UInt8] = [], _ type: String? = nil,
    accepting media: String? = nil, by authorization: UAFAuthorization? = nil, signature: String? = nil
  ) async throws(UAFNetworkProblem) -> HTTPResponse {
    var request = HTTPRequest(method: method, url: url, headers: headers, body: body)
    if let type { request.headers.append(("Content-Type", type)) }
    if let media { request.headers.append(("Accept", media)) }
    if let signature { request.headers.append(("Device-Signature", signature)) }
    authorization?.authorize(&request)
    let response: HTTPResponse
    do { response = try await transport.send(request) } catch { throw problem(.transport(error)) }
    guard (200...299).contains(response.status) else {
      throw problem(
        .status(response.status, body: String(decoding: response.body.prefix(2_048), as: UTF8.self)))
    }
    return response
  }

  /// The URL of a path below the base URL.
  func url(_ path: String) -> String { configuration.baseURL + (path.hasPrefix("/") ? path : "/\(path)") }

  /// The URL of one element of a collection; `name` is percent-encoded.
  func url(_ path: String, _ name: String) -> String {
    url(path.hasSuffix("/") ? path : "\(path)/") + PercentEncoding.encode(name)
  }

  func problem(_ cause: UAFNetworkProblem.Cause) -> UAFNetworkProblem { UAFNetworkProblem(cause, at: name) }

  func cookies(of answer: HTTPResponse, from url: String) -> [UAFCookie] {
    answer.headers.filter { $0.0.lowercased() == "set-cookie" }
      .compactMap { UAFCookie(setCookie: $0.1, from: url) }
  }

  private static let uafMedia = "application/fido+uaf"
  private static let uafType = "application/fido+uaf;charset=UTF-8"
}

extension UAFNetworkProblem {
  /// The server's error code in the JSON body; `nil` if there is none.
  var code: String? {
    guard case .status(_, let body) = cause else { return nil }
    do { return try JSONObject(parsing: Array(body.utf8)).optionalString("code") } catch { return nil }
  }

  /// Indicates whether the task of the exchange was cancelled.
  var isCancelled: Bool { cause == .transport(.cancelled) }

  /// Indicates whether the server may have carried out the failed request.
  var isAmbiguous: Bool {
    switch cause {
    case .transport(let failure):
      switch failure {
      case .insecureURL, .invalidRequest, .invalidConfiguration, .unreachable, .wrongPin, .certificateRefused,
        .tlsRefused:
        false
      default: true
      }
    case .status(let status, _): status >= 500
    case .malformed: true
    case .refused: false
    }
  }
}
