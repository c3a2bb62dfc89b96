import SignetHTTP
import Testing

@Suite struct RouterTests {
  private let router: Router = {
    var router = Router { refusal in
      ServerResponse(
        status: refusal.status, headers: ["Content-Type": "application/problem+json"],
        body: Array(#"{"status":\#(refusal.status)}"#.utf8))
    }
    router.on("POST", "/{domain}/v1/otp/validate") { request in
      ServerResponse(status: 200, body: Array((request.parameters["domain"] ?? "").utf8))
    }
    router.on("GET", "/{domain}/v1/otp/{id}") { request in
      ServerResponse(status: 200, body: Array("\(request.parameters.sorted { $0.key < $1.key })".utf8))
    }
    router.on("GET", "/") { _ in ServerResponse(status: 204) }
    router.on("GET", "/health/v1/otp/deep/er") { _ in ServerResponse(status: 200, body: Array("deep".utf8)) }
    return router
  }()

  private func answer(_ method: String, _ path: String) async throws -> ServerResponse {
    await router.respond(to: ServerRequest(method: method, path: try RequestPath(raw: path)))
  }

  @Test("A literal wins over a name, and a name captures the decoded segment")
  func captures() async throws {
    let literal = try await answer("POST", "/a%20b%2Fc/v1/otp/validate")
    #expect(String(decoding: literal.body, as: UTF8.self) == "a b/c")
    let named = try await answer("GET", "/x/v1/otp/42")
    #expect(
      String(decoding: named.body, as: UTF8.self)
        == #"[(key: "domain", value: "x"), (key: "id", value: "42")]"#)
  }

  @Test("A literal branch that ends nowhere gives way to the name")
  func backtracks() async throws {
    let response = try await answer("POST", "/health/v1/otp/validate")
    #expect(String(decoding: response.body, as: UTF8.self) == "health")
  }

  @Test(
    "An unknown path is 404, by the caller's responder",
    arguments: ["/x", "/x/v1/otp", "/x/v1/otp/1/", "//v1/otp/validate", "/X/V1/otp/1", "/x/v1/otp/"])
  func unknownPath(_ path: String) async throws {
    let response = try await answer("GET", path)
    #expect(response.status == 404)
    #expect(response.headers["content-type"] == "application/problem+json")
    #expect(String(decoding: response.body, as: UTF8.self) == #"{"status":404}"#)
  }

  @Test("Another method is 405 and names those allowed")
  func unknownMethod() async throws {
    let response = try await answer("DELETE", "/x/v1/otp/42")
    #expect(response.status == 405)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(try await answer("get", "/").status == 405)
  }

  @Test("HEAD is served by GET; OPTIONS names the methods; OPTIONS * is answered")
  func impliedMethods() async throws {
    #expect(try await answer("HEAD", "/x/v1/otp/42").status == 200)
    let options = try await answer("OPTIONS", "/x/v1/otp/validate")
    #expect(options.status == 204)
    #expect(options.headers["Allow"] == "OPTIONS, POST")
    #expect(try await answer("OPTIONS", "*").status == 204)
  }

  @Test("A repeated name is a programming error")
  func repeatedName() async {
    await #expect(processExitsWith: .failure) {
      var router = Router()
      router.on("GET", "/{a}/{a}") { _ in ServerResponse(status: 200) }
    }
  }

  @Test("The same route twice is a programming error")
  func repeatedRoute() async {
    await #expect(processExitsWith: .failure) {
      var router = Router()
      router.on("GET", "/{a}") { _ in ServerResponse(status: 200) }
      router.on("GET", "/{b}") { _ in ServerResponse(status: 200) }
    }
  }
}
