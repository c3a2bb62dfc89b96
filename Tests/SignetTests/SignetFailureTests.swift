import Signet
import SignetPolicy
import Testing

/// Failures have permanent numbers, and sentences with advice.
@Suite struct SignetFailureTests {
  private static let wire = WireFailure.invalid(member: "name", reason: "is too long")
  private static let offered: ServerURL = {
    do { return try ServerURL("id.example.com/main") } catch { preconditionFailure("\(error)") }
  }()

  private static let account: Account.ID = {
    guard let id = Account.ID("0123456789abcdef0123456789abcdef") else { preconditionFailure("no id") }
    return id
  }()

  private static let table: [(SignetFailure, Int, String)] = [
    (.noSuchContainer, 8, "list"), (.vault(.damaged), 10, ""),
    (.reasonRefused(wire), 9, "another reason"), (.pushTargetRefused(wire), 14, "another target"),
    (.noSuchAccount, 11, "account list"), (.notExportable, 12, "other authenticator"),
    (.interchange(.notUTF8), 13, "UTF-8"), (.ocra(.missing(.pin)), 15, "give it"),
    (.challengeRequired, 16, "account respond"), (.challengeNotSupported, 17, "signet otp"),
    (.alreadyEnrolled("codes", account: account), 18, "signet account delete 01234567"),
    (.pushAuth(.notPending), 19, "answered before"),
    (.pushAuthRefused(status: 400), 20, "start again at the server"),
    (.pushAuthRefused(status: 403, reason: "Ask Bob."), 20, "(status 403): Ask Bob."),
    (.severalContainers([]), 1009, "choose one"),
    (.accountLocked(AccountLock()), 500, "not locked"), (.accountLock(.notLocked), 501, "not locked"),
    (.accountPolicy(.invalidName("")), 502, "visible ASCII"),
    (.accountPolicyBroken([.init(policy: "screenLock", reason: "set one")]), 503, "screenLock: set one"),
    (.codesNotAccepted(reason: "rooted"), 504, "(rooted); approve"),
    (.containerWiped, 505, "ask its operator"),
    (.wrongPassword(remaining: nil), 100, "try again"),
    (.wrongPassword(remaining: 0), 100, "new activation code"),
    (.wrongPassword(remaining: 1), 100, "1 try is left"),
    (.wrongPassword(remaining: 2), 100, "2 tries are left"), (.passwordRefused([]), 101, "not allowed"),
    (.dictionary(.missing), 111, "dictionary"), (.passwordRequired, 105, "enter it"),
    (.unlockMethodNotEnabled(.biometrics), 123, "biometrics are not enabled"),
    (.unlockMethodNotEnabled(.passcode), 123, "passcode is not enabled"),
    (.unlockMethodNotOffered(.biometrics), 124, "let biometrics open"),
    (.unlockMethodNotOffered(.passcode), 124, "let the device's passcode open"),
    (.activationCancelled, 109, "nothing was changed: start again"),
    (.lockedOut, 110, "new activation code"), (.activationCode(.tooLarge(3000)), 200, "ask for a new one"),
    (.activationAborted, 201, "nothing was changed: start again"),
    (.activationRefused, 202, "check the user id"),
    (.serverNotAuthentic, 203, "check the server URL"), (.unsupportedProfile(wire), 204, "is too long"),
    (.deviceNameRefused(wire), 205, "choose another name"),
    (.serverNameMismatch(offered: offered), 206, "id.example.com/main"),
    (.unsupportedDevice(Problem(.deviceUnsupported, "Use a TPM.")), 207, "Use a TPM"),
    (.unsupportedDevice(Problem(.deviceUnsupported)), 207, "kind of device"),
    (.renewalDropped, 208, "renew again"), (.containerUnknown, 300, "activate again"),
    (.unexpectedAnswer(status: 502), 302, "502"), (.transport(.timedOut), 303, "check"),
    (.refused(Problem(.busy, "Try again in a moment.")), 305, "Try again"),
    (.transactionExpired, 1000, "start again"), (.transactionDecided, 1003, "nothing was changed"),
    (.noSuchTransaction, 1004, "list"), (.decisionNotAllowed, 1005, "does not offer"),
  ]

  @Test(arguments: table)
  func keepsItsNumberAndSaysWhatToDo(_ failure: SignetFailure, _ number: Int, _ words: String) {
    #expect(failure.number == number)
    #expect(failure.description.contains(words) || words.isEmpty)
    #expect(!failure.description.isEmpty)
  }

  @Test func usesEachNumberOnce() {
    var names: [Int: Set<String>] = [:]
    for (failure, number, _) in Self.table {
      // The case's name; for a case without a value its sentence, which is unique.
      let name = Mirror(reflecting: failure).children.first?.label ?? failure.description
      names[number, default: []].insert(name)
    }
    for (number, found) in names { #expect(found.count == 1, "\(number): \(found)") }
  }
}
