import Signet
import SignetJSON
import SignetTerminal
import Synchronization

/// A push message that waits for an account of this device.
struct PendingPushMessage: PendingRequest {
  let waiting: PushChannel.Waiting.Message
  let mechanism: PushMechanism
  let ends: Ends
  let options: DeviceOptions
  let device: Device

  /// The outcomes of a mechanism's messages, from its server's last list.
  final class Ends: Sendable {
    let outcomes = Mutex<[String: RequestEnd]>([:])
  }

  var id: String { waiting.message.messageID }

  var answers: [RequestAnswer] { [.approve, .deny] }

  private var message: PushAuthMessage { waiting.message }

  private var arguments: Arguments { options.arguments }

  var json: JSONObject {
    var object: JSONObject = [
      "kind": "message", "id": .string(id), "issuer": .string(mechanism.issuer),
      "name": .string(mechanism.name), "account": .string(mechanism.account.description),
      "answer": .string(message.kind.rawValue),
    ]
    if message.kind == .challenge { object["numbers"] = .array(message.numbers.map { .integer($0) }) }
    object["text"] = message.text.map { .string($0) }
    return object
  }

  func text(on terminal: Terminal) -> TerminalText {
    let detail =
      switch message.kind {
      case .default: ""
      case .challenge where message.numbers.isEmpty: ": the sign-in shows a number"
      case .challenge: ": the sign-in shows one of \(message.numberList)"
      case .biometric: ": with a finger or the passcode"
      }
    return "Message \(id, limit: 200)\(ours: detail)\n\(message.text(of: mechanism, on: terminal))"
  }

  func answer(_ answer: RequestAnswer) async throws -> TerminalText? {
    arguments.errorOutput.print("You are about to \(ours: answer.rawValue):")
    arguments.errorOutput.print(message.text(of: mechanism, on: arguments.errorOutput))
    var decision = answer == .deny ? PushDecision.deny : .approve
    if answer == .approve, message.kind == .challenge {
      guard let number = try await typedNumber() else { return nil }
      decision = .number(number)
    }
    return try await options.withAccountsPassword(on: device) { [decision] password in
      do throws(SignetError) {
        // Receiving first stores the message, so that it cannot be answered twice or with other content.
        _ = try await device.accounts.receive(waiting.delivery, by: password)
        try await device.accounts.answer(
          id, decision, passcode: TerminalConversation(output: arguments.errorOutput), by: password)
      } catch {
        // The server accepts no second number.
        if case .wrongNumber(let problem) = error, !problem.detail.isEmpty {
          throw UnanswerableRequest(reason: error)
        }
        throw error
      }
      return answer == .deny ? "Denied." : "Approved."
    }
  }

  /// Asks for the number, one of the offered ones or any if none are offered; `nil` for an empty line.
  private func typedNumber() async throws -> String? {
    let list = message.numberList
    arguments.errorOutput.print("\(ours: PushAuthMessage.oneNumber).")
    let question: TerminalText =
      list.isEmpty
      ? "The number that the sign-in shows: " : "The number that the sign-in shows, of \(ours: list): "
    while true {
      let line = try await Question.terminal.line(question)
      if line.isEmpty { return nil }
      if message.takes(number: line) { return line }
      let mistake: TerminalText = list.isEmpty ? "A number has 1 to 10 digits" : "That is not one of them"
      arguments.errorOutput.print("\(mistake); nothing was sent. Without a number the message keeps waiting.")
    }
  }

  func end() async -> RequestEnd? { ends.outcomes.withLock { $0[id] } }
}
