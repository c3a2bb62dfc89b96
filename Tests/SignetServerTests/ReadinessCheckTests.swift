import PostgreSQLFixture
import SignetHTTP
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetWire
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether a server is ready: a durable change, at most one a second, whoever asks how often.
@Suite(.timeLimit(.minutes(10))) struct ReadinessCheckTests {
  @Test("a hundred questions at one time are one look, and so are those of the next second")
  func oneLookASecond() async throws {
    let fixture = try ServerFixture(on: .sqlite)
    let time = Shared(time: .zero)
    let readiness = Readiness(fixture.context) { time.now }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { await readiness.failure() == nil } }
      for await isReady in group { #expect(isReady) }
    }
    #expect(await readiness.count == 1)
  }

  @Test(
    "what a proxy has passed on, and what comes from elsewhere, is answered as a path that is not there",
    arguments: ["Forwarded", "x-forwarded-for", "Via", nil])
  func passedOn(field: String?) async throws {
    let fixture = try ServerFixture(on: .sqlite)
    let readiness = Readiness(fixture.context)
    var request = ServerRequest(method: "GET", path: try RequestPath(raw: "/main/v1/ready"))
    let authentication = CallerAuthentication(fixture.context)
    let routes = ServerEndpoints(context: fixture.context, readiness: readiness).routes(beside: [])
    let route = try #require(routes.first { $0.endpoint.id == "ready" })
    #expect(await route.response(to: request, authentication)?.status == 200)
    if let field { request.headers[field] = "127.0.0.1" } else { request.remoteAddress = "192.0.2.1" }
    #expect(await route.response(to: request, authentication)?.status == 404)
    // Nothing was looked at for it.
    #expect(await readiness.count == 1)
  }

  private final class Shared: Sendable {
    private let time: Mutex<Duration>
    init(time: Duration) { self.time = Mutex(time) }
    var now: Duration { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
  }

  @Test("an answer is good for a second, a bad one too, and each change is in the log once")
  func ages() async throws {
    let fixture = try ServerFixture(on: .sqlite)
    let time = Shared(time: .zero)
    let readiness = Readiness(fixture.context) { time.now }
    #expect(await readiness.failure() == nil)
    time.advance(by: .milliseconds(999))
    #expect(await readiness.failure() == nil)
    #expect(await readiness.count == 1)
    let path = fixture.folder.path + "/signet.sqlite"
    #expect(rename(path, path + ".away") == 0)
    time.advance(by: .milliseconds(1))
    for _ in 0..<3 { #expect(await readiness.failure() != nil) }
    #expect(await readiness.count == 2)
    #expect(rename(path + ".away", path) == 0)
    #expect(await readiness.failure() != nil)
    time.advance(by: .seconds(1))
    #expect(await readiness.failure() == nil)
    #expect(await readiness.count == 3)
    let events = fixture.capture.lines
    #expect(events.filter { $0.contains("ready.failed") }.count == 1)
    #expect(events.filter { $0.contains("ready.restored") }.count == 1)
  }
}
