import Foundation
import SignetJSON
import SignetPolicy
import SignetServerTesting
import SignetTestKit
import SignetTransport
import SignetWire
import Testing
import UAFFixture

import SignetServer

/// `openapi.json`: what is served is what is checked in, and it has every endpoint and nothing else.
@Suite(.timeLimit(.minutes(10))) struct APIDescriptionTests {
  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 100_000)

  private static func checkedIn() throws -> JSONObject {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appending(path: "Sources/SignetServer/OpenAPI/openapi.json")
    return try JSONObject(parsing: Array(Data(contentsOf: file)), limits: limits)
  }

  /// The operations of a description: `GET /v1/live` and what it says.
  private static func operations(_ description: JSONObject) throws -> [(name: String, operation: JSONObject)]
  {
    var found: [(String, JSONObject)] = []
    for (path, value) in try description.object("paths").members {
      guard case .object(let item) = value else { throw JSONFailure.notAnObject }
      for (method, value) in item.members where method != "servers" {
        guard case .object(let operation) = value else { throw JSONFailure.notAnObject }
        found.append(("\(method.uppercased()) \(path)", operation))
      }
    }
    return found
  }

  @Test func isServedWithTheServerInIt() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(directory: folder.path, protection: .device)
    let transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let response = try await transport.send(
      HTTPRequest(url: "\(server.serverURL.fullForm)/v1/openapi.json"))
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == "application/json")
    var served = try JSONObject(parsing: response.body, limits: Self.limits)
    #expect(served["servers"] == [["url": .string(server.serverURL.fullForm)]])
    let checkedIn = try Self.checkedIn()
    served["servers"] = checkedIn["servers"]
    #expect(served == checkedIn)
    await server.stop()
  }

  @Test func describesEveryEndpointAndNothingElse() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(directory: folder.path, protection: .device)
    let endpoints = server.endpoints
    await server.stop()
    let described = try Self.operations(Self.checkedIn()).map(\.name)
    #expect(Set(endpoints).count == endpoints.count && Set(described).count == described.count)
    #expect(Set(endpoints).subtracting(described) == [], "add them to openapi.json")
    #expect(Set(described).subtracting(endpoints) == [], "remove them from openapi.json")
  }

  @Test(
    "where UAF is served, its endpoints are described too, below their prefix",
    arguments: ["/nevisfido", "/a/b"])
  func describesUAF(_ prefix: String) async throws {
    let server = try await UAFServer(UAFTestKey()) { $0.prefix = prefix }
    let response = try await server.send(.get, "//main/v1/openapi.json")
    let description = try JSONObject(parsing: response.body, limits: Self.limits)
    let described = try Self.operations(description).map(\.name)
    let endpoints = server.endpoints
    #expect(Set(endpoints).count == endpoints.count && Set(described).count == described.count)
    #expect(Set(endpoints).subtracting(described) == [], "add them to uaf.json")
    #expect(Set(described).subtracting(endpoints) == [], "remove them from uaf.json")
    let item = try description.object("paths").object("\(prefix)/status")
    #expect(item["servers"] == [["url": .string(server.origin)]])
  }

  /// Endpoints without a scheme of HTTP's, whose body or form says who asks, or that need a token of one use.
  private static let authenticatedByBody = [
    "/v1/activation/finish", "/v1/device/end", "/v1/device/orders", "/v1/pushauth", "/oidc/bc-authorize",
    "/oidc/token", "/nevisfido/token/dispatch/targets/{id}", "/nevisfido/devices/{device}",
  ]

  @Test("an endpoint that needs no authentication is one whose lines are sampled, or its body says who asks")
  func openEndpoints() throws {
    let server = try ServerURL("id.example.org/bank")
    var settings = UAFSettings(facets: [UAFServer.facet])
    settings.hasConformanceAdapter = true
    let description = try JSONObject(
      parsing: APIDescription.document(for: server, settings), limits: Self.limits)
    let open = Set(OpenEndpoints.paths + OpenEndpoints.uafPaths.map { "/nevisfido" + $0 })
    var described: Set<String> = []
    for (name, operation) in try Self.operations(description) {
      let path = try String(#require(name.split(separator: " ").last))
      described.insert(path)
      let security = try operation.array("security")
      guard security.isEmpty || security.contains([:]) else {
        // Of these, only UAF says within an answer of status 200 that it refuses.
        #expect(!open.contains(path) || path.contains("/uaf/1.1/request/"), "\(name)")
        continue
      }
      let isOneUse = path.contains("/token/redeem/") || path.contains("/redeemToken/")
      #expect(open.contains(path) != (isOneUse || Self.authenticatedByBody.contains(path)), "\(name)")
    }
    #expect(open.subtracting(described) == [])
  }

  @Test("who may ask, and what is answered", arguments: [false, true])
  func saysWhoMayAskAndWhatIsAnswered(_ isUAF: Bool) throws {
    var description = try Self.checkedIn()
    if isUAF {
      let server = try ServerURL("id.example.org/bank")
      description = try JSONObject(
        parsing: APIDescription.document(for: server, UAFSettings(facets: [UAFServer.facet])),
        limits: Self.limits)
    }
    let components = try description.object("components")
    let (responses, schemas) = (try components.object("responses"), try components.object("schemas"))
    let schemes = try components.object("securitySchemes").members.map(\.name)
    var names: Set<String> = []
    for (name, operation) in try Self.operations(description) {
      #expect(names.insert(try operation.string("operationId")).inserted, "\(name)")
      #expect(try !operation.string("summary").isEmpty, "\(name)")
      let answers = try operation.object("responses").members.map(\.name)
      #expect(answers.contains { $0.hasPrefix("2") } && answers.contains("503"), "\(name)")
      // Whoever has to say who it is may be refused; whoever sends a body may send another kind.
      let security = try operation.array("security")
      for case .object(let one) in security { #expect(one.members.allSatisfy { schemes.contains($0.name) }) }
      #expect(security.isEmpty || answers.contains("401"), "\(name)")
      // The errors of OpenID Connect and of authenticator apps have other names: there another kind of body is a request that is
      // not valid.
      let isForeign = name.contains(" /oidc/") || name.hasSuffix(" /v1/pushauth")
      #expect((operation.contains("requestBody") && !isForeign) == answers.contains("415"), "\(name)")
      #expect(name.contains("/v1/admin/") == security.contains(["admin": []]), "\(name)")
    }
    // Every code of a problem is in one of the responses, with the status that it has.
    let text = JSONValue.object(responses).text
    for code in Problem.Code.allCases where code != .method {
      #expect(text.contains("urn:signet:problem:\(code.rawValue)\""), "\(code.rawValue)")
    }
    for reference in JSONValue.object(description).text.matches(of: /"#\/components\/(\w+)\/(\w+)"/) {
      let place = reference.1 == "schemas" ? schemas : responses
      #expect(place.contains(String(reference.2)), "\(reference.0)")
    }
  }
}
