import SignetCrypto
import SignetStorage
import SignetUAF
import SignetWire

/// The registered keys: what is removed, and what operators see.
struct UAFKeys: Sendable {
  private let context: ServiceContext

  init(_ context: ServiceContext) { self.context = context }

  /// Removes keys; those that are not there are no failure, so nobody learns which there are.
  ///
  /// - Parameters:
  ///   - targets: Which.
  ///   - user: Whose.
  ///   - session: The operation that removes them.
  ///   - actor: Who asks, for the audit log.
  /// - Throws: ``UAFFailure``.
  func remove(
    _ targets: [DeregistrationRequest.Target], of user: UserID, session: String, by actor: String
  ) async throws(UAFFailure) {
    let selection = targets.map { target in
      switch target {
      case .everything: UAFKeySelection()
      case .model(let aaid): UAFKeySelection(aaid: aaid.stored)
      case .key(let key): UAFKeySelection(aaid: key.aaid.stored, keyID: key.keyID.bytes)
      }
    }
    let audit = context.audit(by: actor)
    _ = try await asUAF(
      await context.stored(
        await context.storage.removeUAFCredentials(of: user.text, selection) { aaid, key in
          audit(
            "uaf.deregistered",
            ["session": session, "user": user.text, "aaid": aaid, "key": Base64URL.encode(key)])
        }))
    let end = UAFSessionEnd(status: UAFStatus.ok.rawValue, time: context.clock.now)
    _ = try await asUAF(
      await context.stored(
        await context.storage.finishUAFRegistration(session, end, adding: []) { _ in
          audit("uaf.deregistrationSent", ["session": session, "user": user.text])
        }))
  }
}
