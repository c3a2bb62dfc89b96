import Signet
import SignetHTTPClient
import SignetTesting
import SignetTestKit
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

@Suite("UAF trusted facets")
struct UAFFacetTests {
  private let facets = FacetServer()
  private let clock = VirtualTrustedClock()
  private let folder: TemporaryFolder
  private let party: UAFParty

  init() throws {
    folder = try TemporaryFolder()
    party = try UAFParty()
  }

  private func device(
    _ facetID: String = UAFDevice.facetID, acceptsOlderFacetLists: Bool = false
  ) throws -> UAFDevice {
    try UAFDevice(
      folder: folder, clock: clock, facets: facets, facetID: facetID,
      acceptsOlderFacetLists: acceptsOlderFacetLists)
  }

  /// The error of opening a request.
  private func refusal(
    _ device: UAFDevice, appID: String? = UAFDevice.appID
  ) async -> UAFClientError? {
    await uafFailure {
      _ = try await device.client.open(
        party.registrationRequest(header: OperationHeader(operation: .registration, appID: appID)).text)
    }?.clientError
  }

  @Test("the list is requested without identifying data, and once while cacheable")
  func fetching() async throws {
    let device = try device()
    facets.set(FacetServer.answer(FacetServer.list(), headers: [("Cache-Control", "public, max-age=60")]))
    #expect(await refusal(device) == nil)
    let request = try #require(facets.requests.first)
    #expect(request.method == .get && request.url == UAFDevice.appID && request.body.isEmpty)
    #expect(request.headers.map(\.0) == ["Accept"] && request.acceptsRedirect)
    clock.advance(by: .seconds(59))
    #expect(await refusal(device) == nil && facets.requests.count == 1)
    clock.advance(by: .seconds(1))
    #expect(await refusal(device) == nil && facets.requests.count == 2)
    // A revoked list takes effect when the cached one has expired.
    facets.set(FacetServer.answer(FacetServer.list([])))
    clock.advance(by: .seconds(61))
    #expect(await refusal(device) == .untrustedFacetID)
  }

  @Test(
    "lists that may not be cached are fetched each time",
    arguments: [
      [], [("Cache-Control", "no-store")], [("Cache-Control", "max-age=60, no-cache")],
      [("Cache-Control", "max-age=0")], [("Cache-Control", "max-age=x")],
      [("Cache-Control", "max-age=60"), ("Age", "60")], [("Cache-Control", "max-age=9, max-age=60")],
    ] as [[(String, String)]])
  func caching(headers: [(String, String)]) async throws {
    let device = try device()
    facets.set(FacetServer.answer(FacetServer.list(), headers: headers))
    for count in 1...2 { #expect(await refusal(device) == nil && facets.requests.count == count) }
  }

  @Test(
    "invalid lists are refused",
    arguments: [
      HTTPResponse(status: 404), HTTPResponse(status: 500),
      HTTPResponse(
        status: 200, headers: [("Content-Type", "application/json")], body: FacetServer.list().json.bytes),
      HTTPResponse(status: 200, body: FacetServer.list().json.bytes),
      HTTPResponse(
        status: 200, headers: [("Content-Type", TrustedFacetList.mediaType)], body: Array("[]".utf8)),
      HTTPResponse(status: 200, headers: [("Content-Type", TrustedFacetList.mediaType)], body: []),
      HTTPResponse(
        status: 200, headers: [("Content-Type", TrustedFacetList.mediaType)],
        body: [UInt8](repeating: 0x20, count: 1 << 19)),
      FacetServer.answer(TrustedFacetList([])), FacetServer.answer(FacetServer.list([])),
      FacetServer.answer(FacetServer.list(["linux:app-id:org.example.other"])),
      FacetServer.answer(FacetServer.list([UAFDevice.facetID], version: .v1_0)),
    ].map(Answer.init))
  func refused(answer: Answer) async throws {
    facets.set(answer.response)
    #expect(await refusal(try device()) == .untrustedFacetID)
  }

  struct Answer: Sendable, CustomTestStringConvertible {
    let response: HTTPResponse
    var testDescription: String { "\(response.status), \(response.headers), \(response.body.count) bytes" }
  }

  @Test("a content type with parameters in any case is accepted")
  func contentType() async throws {
    var answer = FacetServer.answer(FacetServer.list())
    answer.headers = [("content-type", "Application/FIDO.trusted-apps+JSON ; charset=utf-8")]
    facets.set(answer)
    #expect(await refusal(try device()) == nil)
  }

  @Test("a network failure is reported with its cause")
  func network() async throws {
    facets.fail(.timedOut)
    let device = try device()
    let failure = await uafFailure { _ = try await device.client.open(party.registrationRequest().text) }
    #expect(failure?.clientError == .untrustedFacetID)
    #expect(failure?.description.contains(TransportFailure.timedOut.description) == true)
    facets.fail(.cancelled)
    #expect(await refusal(device) == .userCancelled)
  }

  @Test("a list with version 1.0 only is accepted if configured")
  func olderLists() async throws {
    facets.set(FacetServer.answer(FacetServer.list(version: .v1_0)))
    #expect(await refusal(try device()) == .untrustedFacetID)
    #expect(await refusal(try device(acceptsOlderFacetLists: true)) == nil)
  }

  private func redirect(to url: String?, authorized: String? = "true", status: Int = 302) -> HTTPResponse {
    var headers: [(String, String)] = []
    if let url { headers.append(("Location", url)) }
    if let authorized { headers.append(("FIDO-AppID-Redirect-Authorized", authorized)) }
    return HTTPResponse(status: status, headers: headers)
  }

  @Test("a redirect is followed if marked as authorized")
  func redirects() async throws {
    let other = "https://lists.example.com/facets"
    facets.set(redirect(to: other))
    facets.set(FacetServer.answer(FacetServer.list()), at: other)
    #expect(await refusal(try device()) == nil)
    #expect(facets.requests.map(\.url) == [UAFDevice.appID, other])
    #expect(facets.requests.allSatisfy { $0.headers.map(\.0) == ["Accept"] })
  }

  @Test("an unauthorized redirect, one to plain http and a loop are refused")
  func refusedRedirects() async throws {
    let other = "https://lists.example.com/facets"
    facets.set(FacetServer.answer(FacetServer.list()), at: other)
    facets.set(FacetServer.answer(FacetServer.list()), at: "http://lists.example.com/facets")
    for answer in [
      redirect(to: other, authorized: nil), redirect(to: other, authorized: "false"),
      redirect(to: "http://lists.example.com/facets"), redirect(to: "/facets"), redirect(to: nil),
      redirect(to: UAFDevice.appID),
    ] {
      facets.set(answer)
      #expect(await refusal(try device()) == .untrustedFacetID)
    }
    #expect(facets.requests.count <= 5 + 6)
  }

  /// A caller with the application that it names, the refusal, and the number of lists fetched.
  struct Caller: Sendable {
    let facetID: String
    var appID = UAFDevice.appID
    var error: UAFClientError?
    var fetches = 0
  }

  @Test(
    "a caller is trusted as its own application or by its application's list",
    arguments: [
      Caller(facetID: "linux:app-id:org.example.bank", appID: "linux:app-id:org.example.bank"),
      Caller(
        facetID: "linux:app-id:org.example.bank", appID: "linux:app-id:org.example.other",
        error: .untrustedFacetID),
      Caller(
        facetID: "linux:app-id:org.example.bank", appID: "http://uaf.example.com/facets",
        error: .untrustedFacetID),
      Caller(facetID: "https://uaf.example.com"),
      Caller(facetID: "https://uaf.example.com:8443", error: .untrustedFacetID, fetches: 1),
      Caller(facetID: "https://evil.example.com", error: .untrustedFacetID, fetches: 1),
    ])
  func callers(_ caller: Caller) async throws {
    #expect(await refusal(try device(caller.facetID), appID: caller.appID) == caller.error)
    #expect(facets.requests.count == caller.fetches)
  }

  @Test("a web caller is trusted by a list of its own domain only")
  func webCallers() async throws {
    facets.set(FacetServer.answer(FacetServer.list(["https://shop.example.com"])))
    #expect(await refusal(try device("https://shop.example.com")) == nil)
    facets.set(FacetServer.answer(FacetServer.list(["https://evil.example.org", "https://*.example.com"])))
    #expect(await refusal(try device("https://evil.example.org")) == .untrustedFacetID)
  }
}
