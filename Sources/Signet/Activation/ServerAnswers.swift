import SignetCrypto
import SignetWire

// What an activation and a renewal ask of the server's answers in common.

extension StartAnswer {
  /// Takes the server's answer to *start*.
  ///
  /// - Throws: ``SignetFailure/serverNameMismatch(offered:)`` where the server calls itself something else,
  ///   ``SignetFailure/unexpectedAnswer(status:)`` for what is not of the protocol, ``SignetFailure/unsupportedProfile(_:)``
  ///   for what is of it, but not done here.
  static func received(_ body: [UInt8], from server: ServerURL) throws(SignetFailure) -> Self {
    let answer: Self
    do { answer = try Self(parsing: body) } catch {
      // What is no such object at all came from something else than a server of ours.
      if case .json = error { throw .unexpectedAnswer(status: 200) }
      throw .unsupportedProfile(error)
    }
    guard answer.offer.server == server else { throw .serverNameMismatch(offered: answer.offer.server) }
    return answer
  }
}

/// What the server's answer to *finish* has to prove, and to be about.
struct ExpectedReceipt: Sendable {
  /// The `typ` of the proof.
  let type: String
  let proofKey: SharedSecretBox
  let user: UserID
  let server: ServerURL
  let transcript: [UInt8]

  /// Checks the server's proof, and then opens what *confirm* returns: so nobody else has this device open anything.
  ///
  /// - Throws: ``SignetFailure/serverNotAuthentic``.
  func receive(
    _ body: [UInt8], for keys: PrivateContainerKeys
  ) throws(SignetFailure) -> (ActivationReceipt, confirmation: [UInt8]) {
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
