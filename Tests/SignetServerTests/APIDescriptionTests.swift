import Foundation
import SignetHTTPClient
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServerTesting
import SignetTestKit
import Testing
import UAFFixture

import SignetServer

/// The description of the API that a server serves.
@Suite(.timeLimit(.minutes(10))) struct APIDescriptionTests {
  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 100_000)

  /// The served description of a server with or without UAF, and the server's endpoints.
  private static func served(uaf prefix: String? = nil) async throws -> (JSONObject, endpoints: [String]) {
    if let prefix {
      let server = try await UAFServer(UAFTestKey()) { $0.prefix = prefix }
      let response = try await server.send(.get, "//main/v1/openapi.json")
      let description = try JSONObject(parsing: response.body, limits: limits)
      let item = try description.object("paths").object("\(prefix)/status")
      #expect(item["servers"] == [["url": .string(server.origin)]])
      return (description, names(server.endpoints, prefix))
    }
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      directory: folder.path, protection: .device, derivation: .insecureForTests)
    let transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let response = try await transport.send(
      HTTPRequest(url: "\(server.serverURL.fullForm)/v1/openapi.json"))
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == "application/json")
    let description = try JSONObject(parsing: response.body, limits: limits)
    #expect(description["servers"] == [["url": .string(server.serverURL.fullForm)]])
    await server.stop()
    return (description, names(server.endpoints, ""))
  }

  private static func names(_ endpoints: [EndpointDescription], _ prefix: String) -> [String] {
    endpoints.map { "\($0.method.rawValue) \($0.path(uaf: prefix))" }
  }

  /// The operations of a description, by names such as `GET /v1/live`.
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

  @Test("every endpoint is described, and nothing else", arguments: [nil, "/nevisfido", "/a/b"])
  func describesEveryEndpointAndNothingElse(_ prefix: String?) async throws {
    let (description, endpoints) = try await Self.served(uaf: prefix)
    let described = try Self.operations(description).map(\.name)
    #expect(Set(endpoints).count == endpoints.count && Set(described).count == described.count)
    #expect(Set(endpoints) == Set(described))
  }

  @Test("each operation describes its access, answers and schemas", arguments: [nil, "/nevisfido"])
  func saysWhoMayAskAndWhatIsAnswered(_ prefix: String?) async throws {
    let description = try await Self.served(uaf: prefix).0
    let components = try description.object("components")
    let (responses, schemas) = (try components.object("responses"), try components.object("schemas"))
    let schemes = try components.object("securitySchemes").members.map(\.name)
    var names: Set<String> = []
    for (name, operation) in try Self.operations(description) {
      #expect(names.insert(try operation.string("operationId")).inserted, "\(name)")
      #expect(try !operation.string("summary").isEmpty, "\(name)")
      let answers = try operation.object("responses").members.map(\.name)
      #expect(answers.contains { $0.hasPrefix("2") } && answers.contains("503"), "\(name)")
      // A caller that must authenticate may be rejected, and a body may have the wrong content type.
      let security = try operation.array("security")
      for case .object(let one) in security { #expect(one.members.allSatisfy { schemes.contains($0.name) }) }
      #expect(security.isEmpty || answers.contains("401"), "\(name)")
      // OpenID Connect and authenticator apps have other error names, in which a wrong content type is an invalid request.
      let isForeign =
        name.contains(" /oidc/")
        || [" /v1/pushauth", " /v1/pushauth/waiting"].contains { name.hasSuffix($0) }
      #expect((operation.contains("requestBody") && !isForeign) == answers.contains("415"), "\(name)")
      #expect(name.contains("/v1/admin/") == security.contains(["admin": []]), "\(name)")
    }
    // Each problem code is in one of the responses, with its status.
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
