import SignetHTTPServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct RouterTests {
  private let router: Router = {
    var router = Router { refusal in
      ServerResponse(
        status: refusal.status, headers: ["Content-Type": "application/problem+json"],
        body: Array(#"{"status":\#(refusal.status)}"#.utf8))
    }
    let routes = [
      ("POST", "/{domain}/v1/otp/validate"), ("GET", "/{domain}/v1/otp/{id}"), ("GET", "/"),
      ("GET", "/health/v1/otp/deep/er"),
    ]
    for (method, pattern) in routes { router.on(method, pattern) { $1.answer(ServerResponse(status: 200)) } }
    return router
  }()

  private func match(_ method: String, _ path: String) throws -> Router.Match {
    router.match(ServerRequest(method: method, path: try RequestPath(raw: path)))
  }

  /// Returns the route of a request, and its captured names.
  private func found(_ method: String, _ path: String) throws -> (pattern: String, captured: [String: String])
  {
    guard case .route(let route, let request) = try match(method, path) else {
      throw UnexpectedMatch(what: "an answer")
    }
    return (route.pattern, request.parameters)
  }

  private func answer(_ method: String, _ path: String) throws -> ServerResponse {
    guard case .answer(let response) = try match(method, path) else {
      throw UnexpectedMatch(what: "a route")
    }
    return response
  }

  private struct UnexpectedMatch: Error { let what: String }

  @Test("a literal has precedence over a parameter, which captures the decoded segment")
  func captures() throws {
    let literal = try found("POST", "/a%20b%2Fc/v1/otp/validate")
    #expect(literal.pattern == "/{domain}/v1/otp/validate" && literal.captured == ["domain": "a b/c"])
    let named = try found("GET", "/x/v1/otp/42")
    #expect(named.pattern == "/{domain}/v1/otp/{id}" && named.captured == ["domain": "x", "id": "42"])
    for path in ["/", "/health/v1/otp/deep/er"] {
      let plain = try found("GET", path)
      #expect(plain.pattern == path && plain.captured.isEmpty)
    }
  }

  @Test("a literal branch without a match falls back to the parameter")
  func backtracks() throws {
    #expect(try found("POST", "/health/v1/otp/validate").captured == ["domain": "health"])
  }

  @Test(
    "an unknown path is 404, by the caller's responder",
    arguments: ["/x", "/x/v1/otp", "/x/v1/otp/1/", "//v1/otp/validate", "/X/V1/otp/1", "/x/v1/otp/"])
  func unknownPath(_ path: String) throws {
    let response = try answer("GET", path)
    #expect(response.status == 404)
    #expect(response.headers["content-type"] == "application/problem+json")
    #expect(String(decoding: response.body, as: UTF8.self) == #"{"status":404}"#)
  }

  @Test("another method is 405 and names those allowed")
  func unknownMethod() throws {
    let response = try answer("DELETE", "/x/v1/otp/42")
    #expect(response.status == 405)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(try answer("get", "/").status == 405)
  }

  @Test("HEAD is served by GET; OPTIONS names the methods; OPTIONS * is answered")
  func impliedMethods() throws {
    #expect(try found("HEAD", "/x/v1/otp/42").captured["id"] == "42")
    let options = try answer("OPTIONS", "/x/v1/otp/validate")
    #expect(options.status == 204)
    #expect(options.headers["Allow"] == "OPTIONS, POST")
    #expect(try answer("OPTIONS", "*").status == 204)
  }

  @Test("a repeated name is a programming error")
  func repeatedName() async {
    await #expect(processExitsWith: .failure) {
      var router = Router()
      router.on("GET", "/{a}/{a}") { $1.answer(ServerResponse(status: 200)) }
    }
  }

  @Test("the same route twice is a programming error")
  func repeatedRoute() async {
    await #expect(processExitsWith: .failure) {
      var router = Router()
      router.on("GET", "/{a}") { $1.answer(ServerResponse(status: 200)) }
      router.on("GET", "/{b}") { $1.answer(ServerResponse(status: 200)) }
    }
  }
}
