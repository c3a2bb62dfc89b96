import SignetJSON
import SignetServerTesting
import SignetTestKit
import SignetTransport
import SignetWire
import Testing

import SignetServer

/// All routes of a server, tried one by one.
@Suite(.timeLimit(.minutes(10))) struct RouteTableTests {
  /// Sends a request of an endpoint with something in each place of its path.
  private static func ask(
    _ endpoint: EndpointDescription, at origin: String, _ headers: [(String, String)],
    by transport: CurlTransport
  ) async throws -> HTTPResponse {
    var path = endpoint.path(uaf: "/nevisfido")
    for parameter in endpoint.parameters { path = path.replacing("{\(parameter.rawValue)}", with: "none") }
    let method = try #require(HTTPMethod(rawValue: endpoint.method.rawValue))
    let type = endpoint.request.mediaType.map { [("Content-Type", $0)] } ?? []
    return try await transport.send(
      HTTPRequest(
        method: method, url: origin + path, headers: headers + type,
        body: endpoint.request.mediaType == nil ? [] : (endpoint.request.example ?? [:]).bytes))
  }

  @Test("every route refuses who does not show who it is, and who shows that it is somebody else")
  func refusesOthers() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(directory: folder.path, protection: .device)
    let transport = try CurlTransport(
      ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let service = APIKeyService(server.context)
    var keys: [APIKeyService.Scope: String] = [:]
    for scope in APIKeyService.Scope.allCases {
      keys[scope] = try await service.create(name: scope.rawValue, scopes: [scope], by: "test").text
    }
    var tried = 0
    for endpoint in server.endpoints {
      let wrong: [[(String, String)]]
      switch endpoint.access {
      case .anybody, .operatorAddress: continue
      case .key(let scope):
        let other: APIKeyService.Scope = scope == .admin ? .relyingParty : .admin
        wrong = [
          [], [("Authorization", "Bearer signet_0_0")], [("Authorization", "Bearer \(keys[other] ?? "")")],
        ]
      case .device, .client:
        wrong = [
          [], [("Authorization", "Signet e30.e30.AA")],
          [("Authorization", "Bearer \(keys[.admin] ?? "")")],
        ]
      default:
        Issue.record("\(endpoint.id) is of UAF, which this server does not serve")
        continue
      }
      for headers in wrong {
        let status = try await Self.ask(
          endpoint, at: server.serverURL.fullForm, headers, by: transport
        ).status
        #expect([400, 401, 403].contains(status), "\(endpoint.id) answers \(status)")
        if case .key = endpoint.access {
          #expect(
            status == (headers.first?.1.hasPrefix("Bearer signet_0_") ?? true ? 401 : 403), "\(endpoint.id)")
        }
        tried += 1
      }
    }
    #expect(tried > 150)
    await server.stop()
  }

  @Test("the effect of a route fits who may ask, and its method")
  func effects() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(directory: folder.path, protection: .device)
    for endpoint in server.endpoints {
      switch endpoint.effect {
      case .read: #expect(endpoint.method == .get, "\(endpoint.id)")
      case .publish:
        #expect(endpoint.method == .get, "\(endpoint.id)")
        #expect([.anybody, .operatorAddress].contains(endpoint.access), "\(endpoint.id)")
      case .manage: #expect(endpoint.access != .anybody && endpoint.method != .get, "\(endpoint.id)")
      case .grant, .refuse, .attest: #expect(endpoint.method != .get, "\(endpoint.id)")
      }
      // Operators change what is kept, and never speak for a user.
      if endpoint.access == .key(.admin) {
        #expect([.manage, .read].contains(endpoint.effect), "\(endpoint.id)")
      }
    }
    await server.stop()
  }
}
