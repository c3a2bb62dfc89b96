import SignetIdentifiers
import SignetSystem
import SignetUAF

/// A server's deregistration request, checked.
public struct UAFDeregistration: Sendable {
  private let client: UAFClient
  private let server: String?
  private let request: DeregistrationRequest

  /// The application ID of the keys.
  public let appID: String

  init(_ client: UAFClient, _ server: String?, _ request: DeregistrationRequest, _ appID: String) {
    self.client = client
    self.server = server
    self.request = request
    self.appID = appID
  }

  /// Deletes the keys that the request names and this app has.
  ///
  /// Unknown models and keys are not errors, so the server learns nothing about other keys.
  ///
  /// - Returns: The deleted keys; no server is notified.
  /// - Throws: ``SignetError``.
  @discardableResult public func deregister() async throws(SignetError) -> [UAFKey] {
    do throws(UAFFailure) { return try await deregister { _ in true } } catch { throw error.signetError }
  }

  /// Deletes the keys that the request names, limited to keys that the server may affect.
  ///
  /// A server may name another server's application ID or ask to delete everything. The filter then limits the deletion
  /// to that server's users.
  ///
  /// - Parameter isSelected: Returns true for a key of the application that may be deleted.
  /// - Returns: The deleted keys.
  /// - Throws: ``UAFFailure``.
  package func deregister(where isSelected: (UAFKey) -> Bool) async throws(UAFFailure) -> [UAFKey] {
    let keys: [UAFKey]
    do throws(SignetError) { keys = try await client.keys() } catch { throw .device(error) }
    var deleted: [UAFKey] = []
    for key in keys
    where key.appID.hasSameBytes(as: appID) && key.isFor(server) && isSelected(key) {
      guard request.targets.contains(where: { $0.names(key) }), let id = KeyID(text: key.keyID) else {
        continue
      }
      let outcome = await client.module(for: server).handle(
        ASMRequest(.deregister(appID: appID, keyID: id), authenticatorIndex: UInt16(key.kind.index)))
      guard outcome.response.status == .ok else { throw UAFClient.failure(outcome) }
      deleted.append(key)
    }
    return deleted
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
