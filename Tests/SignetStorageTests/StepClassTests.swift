import Foundation
import SignetServerTesting
import Testing

/// The class of each step that changes the database, compared with the sources of the steps.
@Suite struct StepClassTests {
  /// The effect of a step on its account, in the words of `Effect` for routes.
  private enum Class: String, CaseIterable {
    /// Accepts or binds something: it asks the gate.
    case grant
    /// Denies, cancels or removes: it also works for suspended and locked accounts.
    case refuse
    /// Records a report, a receipt or a notice of an end.
    case attest
    /// Changes stored data for an operator or a relying party.
    case manage
    /// Maintains the server's own records.
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
      "addUAFOperation(_:by:answering:limits:audit:)", "redeemUAFToken", "finishUAFRegistration",
      "finishUAFAuthentication", "addUAFTarget", "changeUAFTarget",
    ],
    .refuse: [
      "endTransaction", "removePushTarget", "removeUAFTarget", "removeUAFDevice",
      "finishUAFDeregistration",
    ],
    .attest: ["setAccountChallenge", "acceptAccountReport", "receiveDeviceCommand", "endContainer"],
    .manage: [
      "addUser", "renameUser", "suspendUser", "resumeUser", "deleteUser", "unlockUser",
      "addAPIKey", "revokeAPIKey", "addClient", "revokeClient", "addSigningKey",
      "lockDevice", "unlockDevice", "revokeDevice", "revokeContainer", "addDeviceCommand",
      "setAccountPolicies", "askForRenewal",
      "disableToken", "removeToken", "removePushAuthMechanism", "removeUAFCredentials",
      "releaseUAFCredential",
      "addOutboxReceiver", "removeOutboxReceiver",
    ],
    .keep: [
      "append", "appendRepeatable", "claimID", "sweep", "leaseDelivery", "endDelivery",
      "pollBackchannelRequest", "expireUAFOperation", "failUAFOperation",
      // An unauthenticated client begins it; another step accepts the response.
      "addUAFOperation(_:ofClientWithAtMost:)",
      // Benchmarks begin with it; no server calls it.
      "seed",
    ],
  ]

  /// The granting steps that do not check a device or container, with the reasons.
  private static let withoutDevice: [String: String] = [
    "addActivation": "an invite is on no device yet",
    "addTransaction": "asks whether anybody could answer, which what is locked cannot",
    "addBackchannelRequest": "asks whether anybody could answer, which what is locked cannot",
    "issueTokens": "looks at what was answered with: isProofInUse",
    "claimRequest": "the step that follows judges what is asked for: what is locked reads, and says no",
    "addTokens": "a token is on no device",
    "assignToken": "a token is on no device",
    "setUserCode": "the code of a user is on no device",
    "tryUserCode": "the code of a user is on no device",
    "addPushAuthMechanism": "an authenticator app is on no device (decision 197)",
    "registerPushAuthMechanism": "an authenticator app is on no device (decision 197)",
    "changePushAuthDevice": "an authenticator app is on no device (decision 197)",
    "answerPushAuthMessage": "an authenticator app is on no device (decision 197)",
  ]

  /// The steps that check the lock of a device or container in a rule of their own.
  private static let judgedByRule: [String: String] = [
    "confirmContainer": "a renewal takes over the lock; ContainerConfirmation says which is which",
    "decideTransaction": "a no is taken: TransactionRecord.ending",
    "addInitiated": "wrong signatures are counted before: ContainerRecord.refusalToInitiate",
    "answerTransaction": "a lock takes the container's codes out of use: CredentialRecord.acceptsDigits",
    "attemptCode": "a lock takes the container's codes out of use: AccountStateChange.credential",
  ]

  /// A method of `Storage` that changes the database.
  private struct Step {
    let name: String
    let body: String

    /// Indicates whether it asks the gate anything.
    var asksTheGate: Bool { body.contains("requireUsable(") }

    /// Indicates whether it asks if the user is active, or checks the state itself for a specific answer.
    var asksAboutTheUser: Bool {
      body.contains(/requireUsable\((\)|(user|knownUser|owner|userOf\w+|container):)/)
        || body.contains("userState(")
    }

    /// Indicates whether it asks if the device or the container is locked.
    var asksAboutTheDevice: Bool { body.contains(/requireUsable\((device|deviceOfTarget|container):/) }
  }

  @Test("each step has one class; exactly the granting ones ask the gate and are tested by the contract")
  func classes() throws {
    let steps = try Self.steps()
    #expect(steps.count > 60, "\(steps.count) steps were read")
    let known = Self.classes.values.flatMap(\.self).sorted()
    #expect(known == Set(known).sorted(), "a step has one class")
    #expect(Set(steps.map(\.name)).symmetricDifference(known).sorted() == [], "without a class, or gone")
    let granting = try #require(Self.classes[.grant])
    for step in steps {
      if granting.contains(step.name) {
        #expect(step.asksAboutTheUser, "\(step.name) grants, and does not ask whether the user is active")
      } else {
        #expect(!step.asksTheGate, "\(step.name) asks the gate, and is said to grant nothing")
      }
    }
    #expect(
      Set(granting.map(Self.shortName)).symmetricDifference(StorageContract.gatedStepNames).sorted() == [],
      "not tried, or nothing to try")
  }

  @Test(
    "each granting step checks device or container locks and is tested, or states why not")
  func devices() throws {
    let steps = try Self.steps()
    let granting = try #require(Self.classes[.grant])
    let tried = StorageContract.lockedStepNames
    let (without, byRule) = (Set(Self.withoutDevice.keys), Set(Self.judgedByRule.keys))
    #expect(tried.isDisjoint(with: without), "tried, and said to be on no device")
    #expect(
      Set(granting.map(Self.shortName)).symmetricDifference(tried.union(without)).sorted() == [],
      "neither tried with what is locked nor with a reason, or nothing to try")
    #expect(byRule.subtracting(tried).sorted() == [], "judged by a rule, and not tried")
    for step in steps where granting.contains(step.name) {
      let isAsked = tried.subtracting(byRule).contains(Self.shortName(step.name))
      #expect(step.asksAboutTheDevice == isAsked, "\(step.name)")
    }
  }

  private static func shortName(_ step: String) -> String { String(step.prefix { $0 != "(" }) }

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
