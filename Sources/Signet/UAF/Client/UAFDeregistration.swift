import SignetUAF
import SignetVault

/// A server's request for the end of keys, checked.
public struct UAFDeregistration: Sendable {
  private let client: UAFClient
  private let request: DeregistrationRequest

  /// The application that the keys are for.
  public let appID: String

  init(_ client: UAFClient, _ request: DeregistrationRequest, _ appID: String) {
    (self.client, self.request, self.appID) = (client, request, appID)
  }

  /// Deletes what the request names and this app has.
  ///
  /// Models and keys that are not there are no failure, so that a server learns nothing of what else there is.
  ///
  /// - Returns: The keys that went; no server is told.
  /// - Throws: ``UAFFailure``.
  @discardableResult public func deregister() async throws(UAFFailure) -> [UAFKey] {
    let before = try await client.keys()
    for target in request.targets {
      for kind in UAFAuthenticator.Kind.allCases {
        let aaid = client.authenticators.aaid(of: kind)
        switch target {
        case .everything: try await deregister(kind, nil)
        case .model(let model): if model == aaid { try await deregister(kind, nil) }
        case .key(let key): if key.aaid == aaid { try await deregister(kind, key.keyID) }
        }
      }
    }
    let after = try await client.keys()
    return before.filter { !after.contains($0) }
  }

  private func deregister(_ kind: UAFAuthenticator.Kind, _ keyID: KeyID?) async throws(UAFFailure) {
    let outcome = await client.module.handle(
      ASMRequest(.deregister(appID: appID, keyID: keyID), authenticatorIndex: UInt16(kind.index)))
    guard outcome.response.status == .ok else { throw UAFClient.failure(outcome) }
  }
}
