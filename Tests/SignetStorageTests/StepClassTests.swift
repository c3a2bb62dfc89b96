import Foundation
import SignetServerTesting
import Testing

/// The class of each step that changes the database, held against the sources of the steps.
@Suite struct StepClassTests {
  /// What a step does to the account that it is about, in the words of `Effect`, which says it of routes.
  private enum Class: String, CaseIterable {
    /// Accepts or binds something: it asks the gate.
    case grant
    /// Denies, cancels or removes: works of suspended and locked ones too.
    case refuse
    /// Takes a report, a receipt or the notice of an end.
    case attest
    /// Changes what the server keeps, for an operator or a relying party.
    case manage
    /// Keeps the server's own records.
    case keep
  }

  private static let classes: [Class: Set<String>] = [
    .grant: [
      "addActivation", "finishActivation", "confirmContainer", "stageRenewal",
      "addTransaction", "addBackchannelRequest", "decideTransaction", "answerTransaction", "addInitiated",
      "issueTokens", "claimRequest",
      "attemptCode", "addTokens", "assignToken", "setUserCode", "tryUserCode",
      "addPushTarget", "changePushTarget",
      "addPushAuthMechanism", "registerPushAuthMechanism", "changePushAuthDevice",
      "answerPushAuthMessage",
      "addUAFSession(_:by:answering:limits:audit:)", "redeemUAFToken", "finishUAFRegistration",
      "finishUAFAuthentication", "addUAFTarget", "changeUAFTarget",
    ],
    .refuse: [
      "endTransaction", "countWrongPushAuthNumber", "removePushTarget", "removeUAFTarget", "removeUAFDevice",
      "finishUAFDeregistration",
    ],
    .attest: ["setAccountChallenge", "takeAccountReport", "receiveAccountOrder", "endContainer"],
    .manage: [
      "addUser", "suspendUser", "resumeUser", "deleteUser", "unlockUser",
      "addAPIKey", "revokeAPIKey", "addClient", "revokeClient", "addSigningKey",
      "lockDevice", "unlockDevice", "revokeDevice", "revokeContainer", "addAccountOrder",
      "setAccountPolicies", "askForRenewal",
      "disableToken", "removeToken", "removePushAuthMechanism", "removeUAFCredentials",
      "releaseUAFCredential",
      "addOutboxReceiver", "removeOutboxReceiver",
    ],
    .keep: [
      "append", "appendRepeatable", "claimID", "sweep", "leaseDelivery", "endDelivery",
      "pollBackchannelRequest", "expireUAFSession", "failUAFSession",
      // What a stranger begins; the response to it is accepted by another step.
      "addUAFSession(_:ofClientWithAtMost:)",
      // What benchmarks begin with; no server calls it.
      "seed",
    ],
  ]

  /// A method of `Storage` that changes the database.
  private struct Step {
    let name: String
    let body: String

    /// Whether it asks whether the user is active, or the device unlocked.
    var asksTheGate: Bool { body.contains(/require(ActiveUser|Active|Unlocked|Use)\w*\(/) }

    /// Whether it looks at the state of the user by itself, because it answers in a way of its own.
    var looksAtTheUser: Bool { body.contains("userState(") || body.contains("users.state = 'active'") }
  }

  @Test("each step has one class: one that grants asks the gate and is tried by the contract, no other does")
  func classes() throws {
    let steps = try Self.steps()
    #expect(steps.count > 60, "\(steps.count) steps were read")
    let known = Self.classes.values.flatMap(\.self).sorted()
    #expect(known == Set(known).sorted(), "a step has one class")
    #expect(Set(steps.map(\.name)).symmetricDifference(known).sorted() == [], "without a class, or gone")
    let granting = try #require(Self.classes[.grant])
    for step in steps {
      if granting.contains(step.name) {
        #expect(step.asksTheGate || step.looksAtTheUser, "\(step.name) grants, and asks nobody")
      } else {
        #expect(!step.asksTheGate, "\(step.name) asks the gate, and is said to grant nothing")
      }
    }
    #expect(
      Set(granting.map { String($0.prefix { $0 != "(" }) })
        .symmetricDifference(StorageContract.gatedStepNames).sorted() == [], "not tried, or nothing to try")
  }

  // MARK: The sources

  /// All methods in extensions of `Storage` that begin a change.
  private static func steps() throws -> [Step] {
    let folder = URL(filePath: #filePath).appending(path: "../../../Sources/SignetStorage").standardized
    var found: [Step] = []
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      found += methods(in: try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n"))
    }
    let names = found.map(\.name)
    return found.map { step in
      let short = String(step.name.prefix { $0 != "(" })
      let isUnique = names.count { $0.hasPrefix(short + "(") } == 1
      return Step(name: isUnique ? short : step.name, body: step.body)
    }
  }

  private static func methods(in lines: [String]) -> [Step] {
    var found: [Step] = []
    var isStorage = false
    var place = 0
    while place < lines.count {
      let line = lines[place]
      if let match = line.firstMatch(of: /^(?:\w+ )*(?:extension|class|struct|enum) (\w+)/) {
        isStorage = match.1 == "Storage"
      }
      if isStorage, line.contains(/^  (?:\w+ )*func \w+[(<]/) {
        let end = lines[place...].firstIndex(of: "  }") ?? place
        let text = lines[place...end].joined(separator: "\n")
        if text.contains(/\b(?:write|begin) (?:\{|\()/), let name = fullName(text) {
          found.append(Step(name: name, body: text))
        }
        place = end
      }
      place += 1
    }
    return found
  }

  /// The name of a method with its labels, as in `lockDevice(_:reason:audit:order:)`.
  private static func fullName(_ text: String) -> String? {
    let text = text.replacing("->", with: "")
    guard let name = text.firstMatch(of: /func (\w+)\(/) else { return nil }
    var labels = ""
    var depth = 0
    var word = ""
    var isLabel = true
    for character in text[name.range.upperBound...] {
      switch character {
      case "(", "[", "<": depth += 1
      case ")" where depth == 0: return "\(name.1)(\(labels))"
      case ")", "]", ">": depth -= 1
      case "," where depth == 0: (word, isLabel) = ("", true)
      case " ", ":", "\n":
        guard isLabel, !word.isEmpty else { continue }
        labels += "\(word):"
        isLabel = false
      default: word.append(character)
      }
    }
    return nil
  }
}
