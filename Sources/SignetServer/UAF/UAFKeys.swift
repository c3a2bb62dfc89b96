import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem
import SignetUAF

/// The registered keys: their removal and their JSON form.
package struct UAFKeys: Sendable {
  private let context: ServiceContext

  /// The largest number of keys for each user; a list in the protocol's messages can hold them all.
  package static let limit = 256

  init(_ context: ServiceContext) { self.context = context }

  /// Returns keys in the JSON form of answers and of stored rows.
  static func json(_ keys: [KeyReference]) -> JSONValue {
    .array(keys.map { ["aaid": .string($0.aaid.stored), "keyId": .string($0.keyID.text)] })
  }

  /// Returns the keys that an operation used, from its stored end; `nil` if they cannot be parsed.
  static func used(in end: UAFOperationEnd) -> [KeyReference]? {
    guard let used = end.usedKeys else { return nil }
    let keys = used.compactMap { key -> KeyReference? in
      guard let aaid = AAID(key.aaid), let keyID = KeyID(key.keyID) else { return nil }
      return KeyReference(aaid: aaid, keyID: keyID)
    }
    return keys.count == used.count ? keys : nil
  }

  /// Removes keys and ends the operation that ordered it.
  ///
  /// A key that does not exist is no failure, so a caller cannot find out which keys exist.
  ///
  /// - Parameters:
  ///   - targets: The keys to remove.
  ///   - user: Their user.
  ///   - session: The operation that removes them.
  ///   - caller: The caller; `nil` if a token of another party's order was redeemed.
  /// - Throws: ``UAFStatusFailure``.
  func deregister(
    _ targets: [DeregistrationRequest.Target], of user: UserID, session: ID<UAFOperationRecord>,
    by caller: UAFCaller?
  ) async throws {
    let selection = targets.map { target in
      switch target {
      case .everything: UAFKeySelection()
      case .model(let aaid): UAFKeySelection(aaid: aaid.stored)
      case .key(let key): UAFKeySelection(aaid: key.aaid.stored, keyID: key.keyID.bytes)
      }
    }
    let audit = context.audit(by: caller?.actor ?? .anyone)
    let end = UAFOperationEnd(status: UAFStatus.ok.rawValue, time: context.clock.now)
    let outcome = try await context.storage.finishUAFDeregistration(
      session, of: user, end, removing: selection, by: caller?.basis,
      audit: audit(.uafDeregistrationSent(session: session, user: user))
    ) { aaid, key in
      audit(.uafDeregistered(session: session, user: user, aaid: aaid, key: key))
    }
    guard outcome == .accepted else {
      throw UAFStatusFailure(.requestInvalid, "the deregistration was already done")
    }
  }
}
