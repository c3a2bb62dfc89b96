import Signet
import SignetIntegrity
import SignetPolicy
import Testing

/// Errors have permanent numbers and codes, and sentences with advice.
@Suite struct SignetErrorTests {
  private static let wire = WireFailure.invalid(member: "name", reason: "is too long")
  private static let offered: ServerURL = {
    do { return try ServerURL("id.example.com/main") } catch { preconditionFailure("\(error)") }
  }()

  private static let account: Account.ID = {
    guard let id = Account.ID("0123456789abcdef0123456789abcdef") else { preconditionFailure("no id") }
    return id
  }()

  private struct Unnamed: Error, Hashable {}

  private static let reasons: [UAFCause.Reason] = [
    .ended(clientError: 3), .wrongCredential, .coolingDown, .credentialRefused, .notRecognised,
    .noSuchAuthenticator, .registeredAtAnotherServer, .userNotRegistered, .deviceNotRegistered,
    .deviceNameTaken, .configuration, .server, .clockSkew, .forbidden, .serviceNotOffered, .payloadMalformed,
    .payloadNotForThisDevice, .tokenExpired, .tokenRedeemed, .serverNotTrusted,
  ]

  private static let table: [(SignetError, Int, String)] = [
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

  private static let otherCases: [(SignetError, Int, String)] = [
    (.waiting(.seconds(1), remaining: nil), 115, ""), (.wiped, 112, "new activation code"),
    (.passwordUsedBefore(within: 3), 113, ""), (.passwordTooYoung(until: 0), 104, ""),
    (.passwordExpired, 103, "signet password change"), (.wrongRecoveryCode, 114, ""),
    (.biometrics(.notEnrolled), 120, ""), (.biometricsInvalidated, 121, "use the password"),
    (.passcode(.cancelled), 122, ""), (.integrity(.noGuards), 600, ""),
    (.appData(.invalidLabel), 400, ""), (.sharedSession(.busy), 401, ""),
    (.serverKeyUnknown, 306, "signet renew"), (.contentRefused(wire), 1008, "is too long"),
    (.transactionCancelled, 1002, "nothing was changed"),
    (.wrongNumber(Problem(.transactionWrongNumber)), 1006, "look again"),
    (.wrongNumber(Problem(.transactionWrongNumber, "2 tries are left.")), 1006, "shows. 2 tries"),
    (.numberRequired(digits: 0), 1007, "leave it out"), (.numberRequired(digits: 2), 1007, "2 digits"),
  ]

  @Test(arguments: table + otherCases)
  func keepsItsNumberAndSaysWhatToDo(_ failure: SignetError, _ number: Int, _ words: String) {
    #expect(failure.number == number)
    #expect(failure.description.contains(words) || words.isEmpty)
    #expect(!failure.description.isEmpty)
  }

  @Test func usesEachNumberAndEachCodeOnce() {
    let reasons = Self.reasons.map { SignetError.uaf(UAFCause($0, Unnamed())) }
    var codes: [Int: Set<String>] = [:]
    var numbers: [String: Set<Int>] = [:]
    for error in (Self.table + Self.otherCases).map({ $0.0 }) + reasons {
      codes[error.number, default: []].insert(error.code)
      numbers[error.code, default: []].insert(error.number)
      // The case's name; a case without a value has none here.
      let label = Mirror(reflecting: error).children.first?.label
      if let label, label != "uaf" { #expect(error.code == label) }
    }
    for (number, found) in codes { #expect(found.count == 1, "\(number): \(found)") }
    for (code, found) in numbers { #expect(found.count == 1, "\(code): \(found)") }
    #expect(Set(reasons.map(\.code)).count == Self.reasons.count)
    #expect(SignetError.key(.sessionTransport, .lockedOut).code == "lockedOut")
  }

  @Test(arguments: table + otherCases)
  func theNextStepIsPartOfTheSentence(_ error: SignetError, _ number: Int, _ words: String) {
    guard let nextStep = error.nextStep else { return }
    #expect(!nextStep.isEmpty && error.description.contains(nextStep))
  }

  @Test func hasTheFailureThatItWraps() {
    #expect(SignetError.transport(.timedOut).cause as? TransportFailure == .timedOut)
    #expect(SignetError.deviceNameRefused(Self.wire).cause as? WireFailure == Self.wire)
    #expect(SignetError.key(.sessionTransport, .lockedOut).cause as? SignetError == .lockedOut)
    #expect(SignetError.uaf(UAFCause(.server, Self.wire)).cause as? WireFailure == Self.wire)
    #expect(SignetError.uaf(UAFCause(.server, Self.wire)).description == Self.wire.description)
    #expect(SignetError.uaf(UAFCause(.server, Self.wire)) != .uaf(UAFCause(.server, Unnamed())))
    #expect(SignetError.lockedOut.cause == nil && SignetError.passwordRequired.nextStep == "enter it")
  }
}
