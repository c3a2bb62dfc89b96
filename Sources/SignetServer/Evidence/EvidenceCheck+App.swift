import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetStorage
import SignetSystem

extension EvidenceCheck {
  /// Verifies the answer of an authenticator app, and that the status follows from it.
  ///
  /// - Parameters:
  ///   - app: The message to the app, and its answer.
  ///   - content: The content of the transaction.
  ///   - status: The state of the transaction after the answer.
  ///   - reason: The reason for which the server denied the transaction although the user approved it; `nil` if the user
  ///     decided.
  ///   - shared: The key of the app and the server, and the number that the user had to select.
  /// - Returns: The text that the app received; `nil` for none.
  /// - Throws: ``Failure``, which names the member at fault.
  static func verify(
    _ app: AnswerEvidence.App, showing content: TransactionContent, _ status: TransactionRecord.State,
    reason: JSONValue?, with shared: SharedKey
  ) throws(Failure) -> String? {
    let message: PushAuthMessage
    do throws(PushAuthFailure) {
      message = try PushAuthDelivery(token: app.message).verified(with: shared.key)
    } catch { throw .notAuthentic(member: "message") }
    // A sign-in has no text.
    let forms = content.body == .signIn ? [] : RequestText.forms(of: content)
    let isShown =
      message.text.map { text in forms.contains { $0.hasSameBytes(as: text) } }
      ?? (content.body == .signIn)
    guard isShown else { throw .contradicts(member: "message", by: "content") }
    let body: JSONObject = ["messageId": .string(message.messageID), "jwt": .string(app.answer)]
    let (isDenied, number): (Bool, String?)
    do throws(PushAuthFailure) {
      (isDenied, number) = try PushAuthSubmission(parsing: body.bytes, for: .authenticate).answer(
        with: shared.key, challenge: message.challenge)
    } catch { throw .notAuthentic(member: "answer") }
    let isRight = shared.number.map { $0 == number } ?? true
    let fits =
      switch status {
      case .accepted: !isDenied && isRight && reason == nil
      case .denied: reason == nil ? isDenied : !isDenied && !isRight
      default: false
      }
    guard fits else { throw .contradicts(member: "status", by: "answer") }
    return message.text
  }
}
