import SignetCrypto
import SignetProtocol
import SignetSystem
import SignetUAF

extension EvidenceCheck {
  /// Verifies the response of a UAF authenticator, and that its text is that of the content.
  ///
  /// - Parameters:
  ///   - uaf: The response, and the keys as registered.
  ///   - content: The content of the transaction.
  ///   - key: A public key that must be one of the keys; `nil` for any.
  /// - Throws: ``Failure``, which names the member at fault.
  static func verify(
    _ uaf: AnswerEvidence.UAF, showing content: TransactionContent, _ key: P256.Signing.PublicKey?
  ) throws(Failure) {
    let final: FinalChallenge
    do throws(MessageFailure) { final = try FinalChallenge(parsing: uaf.finalChallenge) } catch {
      throw .malformed(member: "fcParams")
    }
    guard final.params.challenge == uaf.challenge else {
      throw .contradicts(member: "challenge", by: "fcParams")
    }
    guard final.params.appID.hasSameBytes(as: uaf.appID) else {
      throw .contradicts(member: "appID", by: "fcParams")
    }
    guard RequestText.forms(of: content).contains(where: { $0.hasSameBytes(as: uaf.text) }) else {
      throw .contradicts(member: "text", by: "content")
    }
    guard let shown = UAFTransaction(contentType: .text, content: Array(uaf.text.utf8)) else {
      throw .malformed(member: "text")
    }
    var keys: [[UInt8]] = []
    for (index, item) in uaf.assertions.enumerated() {
      let path = "assertions[\(index)]."
      let registered = try registeredKey(item, path)
      let assertion: AuthenticationAssertion
      do throws(AssertionFailure) { assertion = try AuthenticationAssertion(parsing: item.bytes) } catch {
        throw .malformed(member: path + "assertion")
      }
      guard assertion.data.aaid == registered.reference.aaid else {
        throw .contradicts(member: path + "aaid", by: path + "assertion")
      }
      guard assertion.data.keyID == registered.reference.keyID else {
        throw .contradicts(member: path + "keyID", by: path + "assertion")
      }
      do throws(AssertionRefusal) {
        _ = try registered.verify(assertion, finalChallengeHash: final.hash, confirming: [shown])
      } catch { throw .refused(member: path + "assertion", error) }
      keys.append(registered.publicKey.canonicalBytes)
    }
    if let key, !keys.contains(key.x963Representation) { throw .otherKey }
  }

  /// Returns the key as registered.
  ///
  /// It has no counter, so no counter is rejected: the server compared the counter when it accepted the answer.
  private static func registeredKey(
    _ item: AnswerEvidence.Assertion, _ path: String
  ) throws(Failure) -> RegisteredKey {
    guard let aaid = AAID(item.aaid) else { throw .malformed(member: path + "aaid") }
    guard let keyID = KeyID(item.keyID) else { throw .malformed(member: path + "keyID") }
    let algorithm = UAFAlgorithm(rawValue: item.algorithm)
    do throws(UAFKeyFailure) {
      return RegisteredKey(
        reference: KeyReference(aaid: aaid, keyID: keyID),
        publicKey: try UAFPublicKey(
          item.publicKey, format: UAFKeyFormat(rawValue: item.keyFormat), for: algorithm),
        algorithm: algorithm, signCounter: nil)
    } catch { throw .malformed(member: path + "publicKey") }
  }
}
