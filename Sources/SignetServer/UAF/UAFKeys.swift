import SignetCrypto
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// The registered keys: what is removed, and what operators see.
package struct UAFKeys: Sendable {
  private let context: ServiceContext

  /// How many keys a user may have: a list of the protocol holds them all.
  package static let limit = 256

  init(_ context: ServiceContext) { self.context = context }

  /// Keys as they are told and kept.
  static func json(_ keys: [KeyReference]) -> JSONValue {
    .array(keys.map { ["aaid": .string($0.aaid.stored), "keyId": .string($0.keyID.text)] })
  }

  /// The keys that an operation was done with, as they were kept; `nil` for what is none.
  static func used(in end: UAFOperationEnd) -> [KeyReference]? {
    guard let used = end.usedKeys else { return nil }
    let keys = used.compactMap { key -> KeyReference? in
      guard let aaid = AAID(key.aaid), let keyID = KeyID(key.keyID) else { return nil }
      return KeyReference(aaid: aaid, keyID: keyID)
    }
    return keys.count == used.count ? keys : nil
  }

  /// Removes keys, and ends the operation that has asked for it; those that are not there are no failure, so nobody learns which
  /// there are.
  ///
  /// - Parameters:
  ///   - targets: Which.
  ///   - user: Whose.
  ///   - session: The operation that removes them.
  ///   - caller: Who asks; `nil` for whoever redeemed a token that others ordered.
  /// - Throws: ``UAFFailure``.
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
      throw UAFFailure(.requestInvalid, "the deregistration was done before")
    }
  }
}
