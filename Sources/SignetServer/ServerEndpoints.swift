import SignetHTTPServer
import SignetJSON
import SignetProtocol
import Synchronization

package struct ServerState: Sendable {
  package let status: String, version: String

  static func schema(_ status: String) -> MessageSchema<Self> {
    MessageSchema(Self.init) {
      Member("status", \Self.status, .oneOf(status))
      Member("version", \Self.version)
    }
  }
}

extension API {
  static let live = Endpoint(
    .get, "/live", .publish, "live", "Check that the process responds", in: .server, by: .none,
    answers: .json(ServerState.schema("live"), "The process responds."))
  static let ready = Endpoint(
    .get, "/ready", .publish, "ready",
    "Check that the server is ready; for the operator's addresses only", in: .server,
    by: .operatorAddress,
    answers: .json(
      ServerState.schema("ready"),
      "At most a second ago, the database was read, a change was written to the disk, and a handshake key was found."
    )
  )
  static let describe = Endpoint(
    .get, "/openapi.json", .publish, "describe", "Get this description", in: .server, by: .none,
    answers: .bytes(
      describedBy: .message(["openapi": .string, "paths": JSONObject.shape.schema]),
      "An OpenAPI 3.1 document; `servers` names this server."))
}

/// The endpoints for the server's state and its API description.
package struct ServerEndpoints: Sendable {
  private let context: ServiceContext
  private let readiness: Readiness

  package init(context: ServiceContext, readiness: Readiness) {
    (self.context, self.readiness) = (context, readiness)
  }

  /// Returns all routes of a server: its own, and others, which the API description also contains.
  package func routes(beside others: [Route]) -> [Route] {
    let serverRoutes = [
      API.live.answered { _ in ServerState(status: "live", version: Server.version) },
      API.ready.answered { [readiness] _ in try await readiness.answer() },
    ]
    let endpoints = (serverRoutes + others).map(\.endpoint) + [API.describe.description]
    let (url, prefix) = (context.settings.serverURL, context.uaf?.settings.prefix ?? "")
    let document = DeferredBytes { APIDescription.document(of: endpoints, at: url, uaf: prefix).bytes }
    return serverRoutes + others + [API.describe.answered { _ in document.bytes }]
  }
}

/// Bytes that are created at their first use.
private final class DeferredBytes: Sendable {
  private let cached = Mutex<[UInt8]?>(nil)
  private let make: @Sendable () -> [UInt8]

  init(_ make: @escaping @Sendable () -> [UInt8]) { self.make = make }

  var bytes: [UInt8] {
    cached.withLock { cached in
      let bytes = cached ?? make()
      cached = bytes
      return bytes
    }
  }
}
