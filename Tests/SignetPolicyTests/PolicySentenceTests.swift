import SignetPolicy
import Testing

@Suite("Policies in sentences")
struct PolicySentenceTests {
  @Test(
    "the sentences of a policy",
    arguments: [
      ("TYPE=device", ["The keys work on this device only, without user authentication."]),
      (
        PolicyStringTests.numericExample,
        [
          "The keys work on this device only, and with a password.",
          "A new password: 6 to 8 digits, no sequences such as 123 or 321.",
          "After 5 wrong passwords in a row the keys are locked; only a recovery code unlocks them.",
        ]
      ),
      (
        "TYPE=biometricorpassword;MINLEN=8;MAXLEN=8;UP=1;LOW=2;NUM=1;MNUM=1;MNALPHA=3;SEQ=1;REPEAT=1;HISTNUM=1;"
          + "HISTMINAGE=1;HISTMAXAGE=90;CACHE=1;DICT=1;LOCKTYPE=delay;LOCKCOUNTER=6;LOCKDELAY=2",
        [
          "The keys work on this device only, with a password, or with biometrics once they are enabled.",
          "A new password: 8 characters, at least 1 upper-case letter, at least 2 lower-case letters, 1 digit, "
            + "at most 3 characters that are neither letters nor digits, no character twice in a row, "
            + "not the current one, not made from a word or an obvious series.",
          "A changed password can be changed again after 1 day.",
          "A password must be changed after 90 days.",
          "A verified password can be used for one more signature within 30 seconds.",
          "After a wrong password the next try waits 2 seconds, and twice as long after each further one, "
            + "up to 64 seconds.",
        ]
      ),
      (
        "TYPE=devicelockorpassword;MINLEN=1;MAXLEN=1;SEQ=1;REPEAT=1;HISTNUM=3;LOCKTYPE=cooldown;LOCKWAITS=0,60;LOCKWIPE=1",
        [
          "The keys work on this device only, with a password, or with the passcode of the device once that is enabled.",
          "A new password: 1 character, no character twice in a row, none of the last 3.",
          "After 2 wrong passwords in a row the next try waits 60 seconds; after 3 everything that they protect "
            + "is erased.",
        ]
      ),
      (
        "MINLEN=6;MAXLEN=8;SEQ=1;REPEAT=2;HISTMAXAGE=9;LOCKTYPE=silent",
        [
          "The keys work on this device only, and with a password.",
          "A new password: 6 to 8 characters, no character more than 2 times in a row.",
          "This device cannot detect a wrong password; the server counts wrong codes and signatures.",
        ]
      ),
      (
        "NALPHA=2;MNUM=0;MUP=0;SEQ=1",
        [
          "The keys work on this device only, and with a password.",
          "A new password: 2 to 256 characters, no upper-case letters, no digits, "
            + "at least 2 characters that are neither letters nor digits.",
          "After 5 wrong passwords in a row the keys are locked; only a recovery code unlocks them.",
        ]
      ),
      ("TYPE=biometric", ["The keys work on this device only, and with biometrics."]),
      ("TYPE=devicepasscode", ["The keys work on this device only, and with the passcode of the device."]),
    ] as [(String, [String])])
  func sentences(string: String, expected: [String]) throws {
    #expect(try ProtectionPolicy(string: string).sentences(isBoundToDevice: true) == expected)
  }

  @Test(
    "only hardware keys are said to work on one device only",
    arguments: ["device", "password;MINLEN=8", "biometric", "devicepasscode", "biometricorpassword;MINLEN=8"])
  func copies(type: String) throws {
    let policy = try ProtectionPolicy(string: "TYPE=\(type)")
    let (bound, copied) = (policy.sentences(isBoundToDevice: true), policy.sentences(isBoundToDevice: false))
    #expect(
      copied[0]
        == bound[0].replacing("on this device only", with: "wherever the files of this device are copied to"))
    #expect(copied[0] != bound[0])
    #expect(
      copied[1]
        == "No hardware protects them: keep the files private and out of backups, or activate again on a device with a TPM."
    )
    #expect(copied.dropFirst(2) == bound.dropFirst())
  }

  @Test(
    "the failure before each wait is named",
    arguments: [
      (
        "0,0,60,180",
        "After 3 wrong passwords in a row the next try waits 60 seconds, after 4 180 seconds; after 5 the keys "
          + "are locked; only a recovery code unlocks them."
      ),
      (
        "1",
        "After 1 wrong password in a row the next try waits 1 second; after 2 the keys are locked; only a recovery code unlocks them."
      ),
      ("0,0", "After 3 wrong passwords in a row the keys are locked; only a recovery code unlocks them."),
    ])
  func waits(table: String, sentence: String) throws {
    let policy = try ProtectionPolicy(string: "MINLEN=6;MAXLEN=8;LOCKTYPE=cooldown;LOCKWAITS=\(table)")
    #expect(policy.sentences(isBoundToDevice: true).last == sentence)
  }

  @Test("the last sentence names the locked or erased subject")
  func ends() {
    func sentences(_ consequence: LimitConsequence) -> [String] {
      LockPolicy.coolDown(waits: [60], atLimit: consequence).sentences(
        lockedOut: "it is shut", erased: "it is gone")
    }
    let first = "After 1 wrong password in a row the next try waits 60 seconds; after 2 "
    #expect(sentences(.lockOut) == ["\(first)it is shut."])
    #expect(sentences(.wipe) == ["\(first)it is gone."])
  }

  @Test("free wrong passwords are stated")
  func noLock() throws {
    let policy = try ProtectionPolicy(string: "MINLEN=6;MAXLEN=8;LOCKTYPE=none")
    #expect(policy.sentences(isBoundToDevice: true).last == "The number of wrong passwords is not limited.")
  }
}
