import Signet
import SignetJSON
import SignetTerminal
import SignetUAFClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A UAF operation that waits for this device.
struct PendingUAFOperation: PendingRequest {
  let waiting: PendingOutOfBandOperation
  let arguments: Arguments
  let client: UAFClient
  let configuration: UAFConfiguration

  /// The token is a bearer secret that anyone can redeem, so it must not be shown as the ID.
  var id: String { waiting.id ?? "\(waiting.account.username) \(waiting.creationTimeInEpochMillis)" }

  var answers: [RequestAnswer] {
    waiting.payload.operation == .deregistration ? [.approve] : [.approve, .deny]
  }

  var json: JSONObject {
    var object = waiting.json
    (object["kind"], object["id"]) = ("uaf", .string(id))
    return object
  }

  func text(on terminal: Terminal) -> TerminalText {
    let account = waiting.account
    var block = TerminalBlock(on: terminal)
    block.field("as", account.username)
    block.field("at", account.server)
    if let data = waiting.payload.data { block.text(data) }
    let created = Moment.text(waiting.creationTimeInEpochMillis / 1_000)
    return "UAF \(ours: waiting.payload.operation.rawValue)  since \(ours: created)\n\(block.text)"
  }

  func answer(_ answer: RequestAnswer) async throws -> TerminalText? {
    let interaction = TerminalUAFInteraction(arguments, user: waiting.account.username)
    let operations = UAFOperations(
      client: client, configuration: configuration,
      interaction: answer == .deny ? RefusingUAFInteraction() : interaction)
    let operation = try await operations.redeem(waiting.payload)
    // The token is used up: after any failure the request cannot be answered here again.
    do {
      switch operation {
      case .registration(let registration):
        _ = try await registration.run(device: UAFNewDevice(name: ProcessInfo.processInfo.hostName))
        return "Registered."
      case .authentication(let authentication):
        _ = try await authentication.run()
        return "Confirmed with UAF."
      case .deregistration where answer == .deny: return "Nothing was removed."
      case .deregistration(let deregistration):
        let count = try await deregistration.run().count
        return "Deregistered; \(count) \(ours: count == 1 ? "key was" : "keys were") removed."
      }
    } catch {
      if answer == .deny, error.uafClientError == .userCancelled {
        return "Denied: it is not confirmed with UAF."
      }
      throw UnanswerableRequest(reason: interaction.failure ?? error)
    }
  }

  func end() async -> RequestEnd? {
    await UAFOperations(
      client: client, configuration: configuration, interaction: RefusingUAFInteraction()
    ).end(of: waiting)
  }
}

/// Rejects every question: the server learns that the user cancelled.
struct RefusingUAFInteraction: UAFInteraction {
  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
    answer.cancel()
  }
}
