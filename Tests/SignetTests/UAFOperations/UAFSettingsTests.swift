import Signet
import SignetHTTPClient
import SignetTesting
import SignetUAFClient
import Synchronization
import Testing

@Suite("UAF configuration, cookies and retries", .timeLimit(.minutes(10)))
struct UAFSettingsTests {
  @Test("the paths are those of the standard layout unless they are set")
  func paths() throws {
    var configuration = try UAFConfiguration(baseURL: "https://id.example.org/nevisfido/")
    #expect(configuration.baseURL == "https://id.example.org/nevisfido")
    #expect(configuration.registrationRequestPath == "/uaf/1.1/request/registration/")
    #expect(configuration.authenticationResponsePath == "/uaf/1.1/authentication/")
    #expect((configuration.networkTimeoutSeconds, configuration.interactionTimeoutSeconds) == (60, 240))
    configuration.authenticationRequestPath = "/auth/fidouaf"
    configuration.otherServers = ["https://third.example.org"]
    configuration.networkTimeoutSeconds = 7
    let other = try configuration.at(server: "https://other.example.org:8443/ignored?x=1")
    #expect(other.baseURL == "https://other.example.org:8443/nevisfido")
    #expect(other.authenticationRequestPath == "/auth/fidouaf")
    #expect(try other != configuration && other.at(server: "https://id.example.org") == configuration)
    #expect(try UAFConfiguration(host: "id.example.org").baseURL == "https://id.example.org/nevisfido")
  }

  @Test(
    "a URL that is not https is refused before anything is sent",
    arguments: [
      "http://id.example.org", "HTTP://id.example.org", "ftp://id.example.org", "id.example.org", "https://",
      "https://user@id.example.org", "https://id.example.org/?a=b", "https://id.example.org/#a",
      "https://ä.example",
    ])
  func refused(_ url: String) {
    let error = #expect(throws: SignetError.self) { try UAFConfiguration(baseURL: url) }
    guard case .uaf(let cause)? = error else { return failed("\(String(describing: error))") }
    #expect(cause.reason == .configuration)
  }

  @Test("retries wait as their policy says")
  func delays() {
    #expect(UAFRetryPolicy.none.delays.isEmpty)
    #expect(
      UAFRetryPolicy.constant(maximumRetries: 3, delay: .seconds(1)).delays
        == [.seconds(1), .seconds(1), .seconds(1)])
    #expect(
      UAFRetryPolicy.exponential(
        maximumRetries: 5, initialDelay: .seconds(2), maximumDelay: .seconds(6), multiplier: 0.5
      ).delays == [.seconds(2), .seconds(3), .milliseconds(4_500), .seconds(6), .seconds(6)])
    #expect(UAFRetryPolicy.constant(maximumRetries: -1, delay: .seconds(1)).delays.isEmpty)
    #expect(
      UAFRetryPolicy.exponential(
        maximumRetries: 10_000, initialDelay: .seconds(1), maximumDelay: .seconds(60), multiplier: 9
      ).delays.last == .seconds(60))
  }

  @Test("temporary failures are retried as configured, permanent ones never")
  func retries() async {
    let timer = VirtualTimer()
    func run(_ failures: [TransportFailure]) async -> (Int, TransportFailure?) {
      var tries = 0
      let policy = UAFRetryPolicy.constant(maximumRetries: 2, delay: .seconds(1))
      let waking = Task {
        while !Task.isCancelled {
          let rest = await timer.untilSomeoneSleeps()
          timer.advance(by: rest)
        }
      }
      defer { waking.cancel() }
      do throws(TransportFailure) {
        try await policy.run(on: timer, while: { $0.mayPass }) { () async throws(TransportFailure) in
          defer { tries += 1 }
          if tries < failures.count { throw failures[tries] }
        }
        return (tries, nil)
      } catch { return (tries, error) }
    }
    #expect(await run([]) == (1, nil))
    #expect(await run([.timedOut, .timedOut]) == (3, nil))
    #expect(await run([.timedOut, .timedOut, .timedOut]) == (3, .timedOut))
    #expect(await run([.insecureURL]) == (1, .insecureURL))
  }

  @Test("a retry whose wait is cancelled is not made")
  func cancelledRetry() async {
    let timer = VirtualTimer()
    let tries = Mutex(0)
    let task = Task { () async -> TransportFailure? in
      do throws(TransportFailure) {
        try await UAFRetryPolicy.constant(maximumRetries: 5, delay: .seconds(9)).run(
          on: timer, while: { $0.mayPass }
        ) { () async throws(TransportFailure) in
          tries.withLock { $0 += 1 }
          throw .timedOut
        }
        return nil
      } catch { return error }
    }
    #expect(await timer.untilSomeoneSleeps() == .seconds(9))
    task.cancel()
    #expect(await task.value == .timedOut)
    #expect(tries.withLock { $0 } == 1)
  }

  @Test("a cookie is sent only to its domain and path")
  func cookies() throws {
    let url = "https://id.example.org/nevisfido/uaf/1.1/authentication/"
    let plain = try #require(UAFCookie(setCookie: "a=b; Secure; HttpOnly", from: url))
    #expect((plain.name, plain.value, plain.host) == ("a", "b", "id.example.org"))
    #expect(plain.path == "/nevisfido/uaf/1.1/authentication")
    #expect(plain.isSent(to: url))
    #expect(!plain.isSent(to: "https://id.example.org/nevisfido"))
    let wide = try #require(UAFCookie(setCookie: "a=b; Path=/; Domain=.example.org", from: url))
    #expect(wide.isSent(to: "https://id.example.org/") && wide.isSent(to: "https://shop.example.org/x"))
    #expect(!wide.isSent(to: "https://badexample.org/") && !wide.isSent(to: "http://id.example.org/"))
    let below = try #require(UAFCookie(setCookie: "a=b; Path=/nevis", from: url))
    #expect(
      !below.isSent(to: "https://id.example.org/nevisfido")
        && below.isSent(to: "https://id.example.org/nevis/x"))
  }

  @Test(
    "cookies for other hosts are refused",
    arguments: [
      "", "a", "=b", "a=", "a=b; Domain=org", "a=b; Domain=other.org", "a=b; Max-Age=0", "a b=c", "a=b,c",
      "a=\u{7F}",
    ])
  func badCookies(_ text: String) {
    #expect(UAFCookie(setCookie: text, from: "https://id.example.org/") == nil)
  }

  @Test(
    "a cookie for a public suffix is rejected, except for a host that equals it",
    arguments: ["co.uk", "github.io", "xn--p1ai", "0.0.1"])
  func publicSuffixes(_ suffix: String) throws {
    let below = suffix == "0.0.1" ? "10.\(suffix)" : "id.\(suffix)"
    #expect(UAFCookie(setCookie: "a=b; Domain=\(suffix)", from: "https://\(below)/") == nil)
    let host = suffix == "0.0.1" ? below : suffix
    let cookie = try #require(UAFCookie(setCookie: "a=b; Domain=\(host)", from: "https://\(host)/"))
    #expect(cookie.isSent(to: "https://\(host)/") && !cookie.isSent(to: "https://id.\(host)/"))
  }

  @Test("a login replaces old cookies by new ones, and keeps a token")
  func login() throws {
    let url = "https://id.example.org/"
    let (old, new) = (
      try #require(UAFCookie(setCookie: "a=1", from: url)),
      try #require(UAFCookie(setCookie: "a=2", from: url))
    )
    let other = try #require(UAFCookie(setCookie: "b=1", from: url))
    let none: UAFAuthorization? = nil
    #expect(none.adding([old]) == .cookies([old]))
    #expect(UAFAuthorization?.some(.cookies([old, other])).adding([new]) == .cookies([other, new]))
    #expect(UAFAuthorization?.some(.jwt("t")).adding([new]) == .jwt("t"))
    #expect("\(UAFAuthorization.jwt("secret"))" == "jwt")
  }
}
