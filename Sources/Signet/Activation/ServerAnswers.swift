import SignetCrypto
import SignetProtocol

// The checks of the server's answers that an activation and a renewal share.

extension StartAnswer {
  /// Parses the server's answer to *start*.
  ///
  /// - Throws: ``SignetError/serverNameMismatch(offered:)`` if the server names another URL,
  ///   ``SignetError/unexpectedAnswer(status:)`` for an answer outside the protocol,
  ///   ``SignetError/unsupportedProfile(_:)`` for a valid answer that this version does not support.
  static func received(_ body: [UInt8], from server: ServerURL) throws(SignetError) -> Self {
    let answer: Self
    do { answer = try Self(parsing: body) } catch {
      // An answer that is not a JSON object did not come from a Signet server.
      if case .json = error { throw .unexpectedAnswer(status: 200) }
      throw .unsupportedProfile(error)
    }
    guard answer.offer.server == server else { throw .serverNameMismatch(offered: answer.offer.server) }
    return answer
  }
}

/// The expected content of the server's proof in its answer to *finish*.
struct ExpectedReceipt: Sendable {
  /// The `typ` of the proof.
  let type: String
  let proofKey: SharedSecretBox
  let user: UserID
  let server: ServerURL
  let transcript: [UInt8]

  /// Verifies the server's proof, then decrypts the confirmation that *confirm* returns; unauthenticated data is never decrypted.
  ///
  /// - Throws: ``SignetError/serverNotAuthentic``.
  func receive(
    _ body: [UInt8], for keys: PrivateContainerKeys
  ) throws(SignetError) -> (ActivationReceipt, confirmation: [UInt8]) {
    guard let message = ActivationReceipt.message(in: body),
      let payload = proofKey.withSecret({ SignedMessage.verify(message, key: $0, type: type) }),
      let receipt = ActivationReceipt(verified: payload), receipt.user == user, receipt.server == server,
      constantTimeEqual(receipt.transcript, transcript)
    else { throw .serverNotAuthentic }
    do throws(WireFailure) {
      return (
        receipt, try SealedConfirmation.open(receipt.sealed, with: keys.encryption, transcript: transcript)
      )
    } catch { throw .serverNotAuthentic }
  }
}
