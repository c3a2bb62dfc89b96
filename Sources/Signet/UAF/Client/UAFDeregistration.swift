import SignetUAF

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
    try await deregister { _ in true }
  }

  /// Deletes what the request names, of those keys alone that it may be about.
  ///
  /// A server that names another one's application, or everything of it, means its own users at most.
  ///
  /// - Parameter isMeant: Whether a key of the application is one of them.
  /// - Returns: The keys that went.
  /// - Throws: ``UAFFailure``.
  package func deregister(where isMeant: (UAFKey) -> Bool) async throws(UAFFailure) -> [UAFKey] {
    var gone: [UAFKey] = []
    for key in try await client.keys() where key.appID.utf8.elementsEqual(appID.utf8) && isMeant(key) {
      guard request.targets.contains(where: { $0.names(key) }), let id = KeyID(text: key.keyID) else {
        continue
      }
      let outcome = await client.module.handle(
        ASMRequest(.deregister(appID: appID, keyID: id), authenticatorIndex: UInt16(key.kind.index)))
      guard outcome.response.status == .ok else { throw UAFClient.failure(outcome) }
      gone.append(key)
    }
    return gone
  }
}

extension DeregistrationRequest.Target {
  fileprivate func names(_ key: UAFKey) -> Bool {
    switch self {
    case .everything: true
    case .model(let aaid): key.isOfModel(aaid.text)
    case .key(let reference): key.isKey(reference.keyID.text, ofModel: reference.aaid.text)
    }
  }
}
