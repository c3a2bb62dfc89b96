import Signet
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetTesting
import SignetUAFClient
import Synchronization
import Testing

@Suite("UAF operations: requests and responses", .timeLimit(.minutes(10)))
struct UAFServerTests {
  /// Removes the authorization from an answer and sets its location instead.
  private static func hide(_ response: inout HTTPResponse, at location: String) {
    do {
      var object = try JSONObject(parsing: response.body)
      object["additionalTokens"] = nil
      object["location"] = .string(location)
      response.body = object.bytes
    } catch { Issue.record("the answer is no JSON: \(error)") }
  }

  /// The time-out of each connection, in the order of their creation.
  private final class TimeLimits: Sendable {
    private let limits = Mutex<[Int]>([])

    var seconds: [Int] { limits.withLock { $0 } }

    /// Operations of a fixture whose connections are recorded here.
    func operations(
      of fixture: UAFOperationsFixture, headers: [(String, String)] = []
    ) throws -> UAFOperations {
      let transport = fixture.transport
      let device = Device(vault: fixture.vault, clock: fixture.clock) {
        configuration throws(TransportFailure) in
        self.limits.withLock { $0.append(configuration.timeoutSeconds) }
        return transport
      }
      return UAFOperations(
        client: UAFClient(device: device, facetID: UAFOperationsFixture.facet),
        configuration: try UAFConfiguration(baseURL: fixture.baseURL), interaction: fixture.person,
        headers: headers, clock: fixture.timer)
    }
  }

  @Test("every request has the app's headers, the protocol's content types and a time limit of 60 s")
  func requests() async throws {
    let fixture = try await UAFOperationsFixture()
    let limits = TimeLimits()
    let operations = try limits.operations(
      of: fixture, headers: [("X-Trace", "one"), ("X-Trace", "two, three")])
    try await operations.register(
      "alice", device: UAFNewDevice(name: "laptop"), authorization: .jwt(fixture.apiKey))
    let sent = fixture.changes.requests().filter { !$0.url.hasSuffix("/facets") }
    #expect(sent.count == 3)
    for request in sent {
      #expect(request.headers.filter { $0.0 == "X-Trace" }.map(\.1) == ["one", "two, three"])
      #expect(request.headers.filter { $0.0 == "Authorization" }.count == 1)
      #expect(request.url.hasPrefix("https://"))
    }
    #expect(sent[0].headers.contains { $0 == ("Content-Type", "application/fido+uaf;charset=UTF-8") })
    #expect(sent[0].headers.contains { $0 == ("Accept", "application/fido+uaf") })
    #expect(sent[0].headers.contains { $0 == ("Authorization", "Bearer \(fixture.apiKey)") })
    #expect(limits.seconds.contains(60))
  }

  @Test("after a cancellation the report has a shorter time limit than other requests")
  func impatientReport() async throws {
    let fixture = try await UAFOperationsFixture()
    let limits = TimeLimits()
    let operations = try limits.operations(of: fixture)
    fixture.person.cancel(at: "enrol")
    let found = await failure {
      try await operations.register(
        "alice", device: UAFNewDevice(name: "laptop"), authorization: .jwt(fixture.apiKey))
    }
    #expect(found?.code == .userCancelled)
    #expect(limits.seconds.last == 10)
    #expect(fixture.changes.requests().last?.url == fixture.baseURL + "/uaf/1.1/registration/")
  }

  @Test("an external authorization is fetched, with the configured retries")
  func location() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    let base = fixture.baseURL
    let place = "\(base)/uaf/1.1/facets"
    let tries = Mutex(0)
    fixture.changes.change { request, response in
      if request.url.hasSuffix("/uaf/1.1/authentication/") { Self.hide(&response, at: place) }
      guard request.url == place, request.cookies.isEmpty, request.headers.allSatisfy({ $0.0 != "Accept" })
      else { return }
      let number = tries.withLock { tries in
        tries += 1
        return tries
      }
      response = HTTPResponse(status: 200, headers: number < 3 ? [] : [("Set-Cookie", "sid=7; Path=/")])
    }
    let operations = try fixture.operations
    async let authorization = operations.authenticate("alice")
    for _ in 0..<2 {
      // The time-outs of the questions sleep as well.
      while await fixture.timer.untilSomeoneSleeps() > .seconds(1) { await Task.yield() }
      fixture.timer.advance(by: .seconds(1))
    }
    guard case .cookies(let cookies)? = try await authorization else { return failed("no cookies") }
    #expect(cookies.map(\.name) == ["sid"] && tries.withLock { $0 } == 3)
  }

  @Test("an authorization at another server is not fetched")
  func otherLocation() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.changes.change { request, response in
      if request.url.hasSuffix("/uaf/1.1/authentication/") {
        Self.hide(&response, at: "https://other.example.org/")
      }
    }
    let found = await failure { try await fixture.operations.authenticate("alice") }
    guard case .network(let problem)? = found, case .malformed = problem.cause else {
      return failed("\(String(describing: found))")
    }
    #expect(fixture.changes.requests().allSatisfy { $0.url.hasPrefix(fixture.baseURL) })
  }

  @Test("cookies of a login are kept with the failure and sent with the next attempt")
  func keepsLogin() async throws {
    let fixture = try await UAFOperationsFixture()
    try await fixture.register()
    fixture.changes.change { request, response in
      if request.url.hasSuffix("/request/authentication/") {
        response.headers.append(("Set-Cookie", "login=9; Path=/"))
      }
    }
    fixture.person.cancel(at: "verify")
    let operations = try fixture.operations
    var session: UAFAuthorization?
    do throws(SignetError) {
      _ = try await operations.authenticate("alice", session: &session)
      Issue.record("it succeeded")
    } catch {
      guard case .cookies(let cookies)? = session else { return failed("no cookies") }
      #expect(cookies.map(\.value) == ["9"] && error.uafClientError == .userCancelled)
      fixture.person.cancel(at: nil)
      _ = fixture.changes.requests()
      _ = try await operations.authenticate("alice", session: &session)
      let sent = fixture.changes.requests().filter { $0.url.contains("authentication") }
      #expect(sent.allSatisfy { $0.cookies == [RequestCookie(name: "login", value: "9")] })
    }
  }

  @Test("a request for another user creates no key")
  func otherUser() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.changes.change { request, response in
      guard request.url.hasSuffix("/request/registration/") else { return }
      let text = String(decoding: response.body, as: UTF8.self)
      response.body = Array(text.replacing("alice", with: "mallory").utf8)
    }
    #expect(await failure { try await fixture.register() }?.code == .protocolError)
    #expect(try await fixture.client.keys().isEmpty)
  }

  @Test(
    "responses outside of the protocol are network failures with status and server",
    arguments: [
      HTTPResponse(status: 200, body: []), HTTPResponse(status: 200, body: Array("[]".utf8)),
      HTTPResponse(status: 200, body: Array(#"{"statusCode":"1200"}"#.utf8)),
      HTTPResponse(status: 500, body: Array("no".utf8)), HTTPResponse(status: 404),
    ])
  func malformed(_ answer: HTTPResponse) async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.changes.change { request, response in
      if request.url.hasSuffix("/request/registration/") { response = answer }
    }
    let found = await failure { try await fixture.register() }
    guard case .network(let problem)? = found else { return failed("\(String(describing: found))") }
    #expect(problem.server == fixture.baseURL)
    #expect(problem.status == (answer.status == 200 ? nil : answer.status))
    #expect(try await fixture.client.keys().isEmpty)
  }

  @Test("a success without a request is a protocol failure")
  func noRequest() async throws {
    let fixture = try await UAFOperationsFixture()
    fixture.changes.change { request, response in
      if request.url.hasSuffix("/request/registration/") {
        response.body = Array(#"{"statusCode":1200}"#.utf8)
      }
    }
    #expect(await failure { try await fixture.register() }?.code == .protocolError)
  }
}
