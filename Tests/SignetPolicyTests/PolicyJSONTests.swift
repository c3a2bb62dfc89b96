import SignetJSON
import SignetPolicy
import Testing

@Suite("Policies as JSON")
struct PolicyJSONTests {
  @Test(
    "policies survive a round trip",
    arguments: [
      #"{"type":"device"}"#, #"{"type":"biometric"}"#, #"{"type":"devicePasscode"}"#,
      #"{"type":"biometricOrPassword","password":{"minLength":6,"maxLength":8,"allowSequences":false,"#
        + #""maxHistory":5,"minAge":1,"maxAge":90,"cacheEnabled":true,"cacheTimeout":45,"dictionary":true},"#
        + #""lock":{"type":"coolDown","waits":[0,0,60,180],"atLimit":"wipe"}}"#,
      #"{"type":"deviceLockOrPassword","password":{"minLength":6,"maxLength":8,"allowSequences":false},"#
        + #""lock":{"type":"delay","delay":2,"counter":6}}"#,
      #"{"type":"password","password":{"minLength":6,"maxLength":8,"allowSequences":false},"#
        + #""lock":{"type":"silent"}}"#,
      #"{"type":"password","password":{"minLength":6,"maxLength":8,"allowSequences":false},"#
        + #""lock":{"type":"lock","limit":10,"atLimit":"wipe"}}"#,
      #"{"type":"password","password":{"minLength":6,"maxLength":8,"maxLetters":0,"minDigits":6,"#
        + #""maxNonAlphanumeric":0,"allowSequences":false},"lock":{"type":"lock","limit":5}}"#,
      #"{"type":"password","password":{"minLength":8,"maxLength":256,"minUppercase":1,"maxUppercase":9,"#
        + #""minLowercase":1,"maxLowercase":100,"minLetters":3,"maxLetters":200,"minDigits":1,"maxDigits":7,"#
        + #""minNonAlphanumeric":1,"maxNonAlphanumeric":50,"allowSequences":true,"maxRepeats":3},"#
        + #""lock":{"type":"none"}}"#,
    ])
  func roundTrip(text: String) throws {
    let policy = try ProtectionPolicy(JSONObject(parsing: Array(text.utf8)))
    #expect(policy.json.text == text)
    #expect(try ProtectionPolicy(policy.json) == policy)
  }

  @Test("the order of members does not matter, and defaults are the strict ones")
  func defaults() throws {
    let policy = try PasswordPolicy(["maxLength": 8, "minLength": 4] as JSONObject)
    #expect(!policy.allowsSequences)
    #expect(policy.maximumRepeats == nil)
    #expect(policy.count(of: .digit) == .any)
    #expect(try PasswordPolicy(policy.json) == policy)
  }

  @Test("the PIN policy of the Swift API equals the one in JSON")
  func pin() throws {
    let pin = try PasswordPolicy.pin(6...8)
    #expect(try PasswordPolicy(pin.json) == pin)
  }

  @Test(
    "refusals of a protection policy",
    arguments: [
      ([:], .malformed(.missingMember("type"))),
      (["type": 1], .malformed(.wrongType(member: "type", expected: .string))),
      (["type": "biometricOrPassword"], .malformed(.missingMember("password"))),
      (["type": "biometric", "lock": ["type": "none"]], .unknownRule("lock")),
      (["type": "biometricorpassword"], .unknownType("biometricorpassword")),
      (["type": "Device"], .unknownType("Device")),
      (["type": "device", "lock": [:]], .unknownRule("lock")),
      (["type": "password"], .malformed(.missingMember("password"))),
      (
        ["type": "password", "password": ["minLength": 4, "maxLength": 8]],
        .malformed(.missingMember("lock"))
      ),
      (
        ["type": "password", "password": [], "lock": ["type": "none"]],
        .malformed(.wrongType(member: "password", expected: .object))
      ),
      (
        ["type": "password", "password": ["minLength": 4, "maxLength": 8], "lock": ["type": "loud"]],
        .unknownType("loud")
      ),
    ] as [(JSONObject, PolicyFailure)])
  func protectionRefusals(json: JSONObject, failure: PolicyFailure) {
    #expect(throws: failure) { try ProtectionPolicy(json) }
  }

  @Test(
    "refusals of a password policy",
    arguments: [
      ([:], .malformed(.missingMember("minLength"))),
      (["minLength": 4], .malformed(.missingMember("maxLength"))),
      (["minLength": 4.5, "maxLength": 8], .malformed(.wrongType(member: "minLength", expected: .integer))),
      (["minLength": nil, "maxLength": 8], .malformed(.wrongType(member: "minLength", expected: .integer))),
      (["minLength": 9, "maxLength": 8], .contradiction(rules: ["minLength", "maxLength"])),
      (["minLength": 0, "maxLength": 8], .outOfRange(rule: "minLength", value: 0, allowed: 1...256)),
      (
        ["minLength": 1, "maxLength": 9_223_372_036_854_775_807],
        .outOfRange(rule: "maxLength", value: .max, allowed: 1...256)
      ),
      (["minLength": 4, "maxLength": 8, "minDigits": 9], .contradiction(rules: ["minDigits", "maxLength"])),
      (
        ["minLength": 4, "maxLength": 8, "minDigits": -1],
        .outOfRange(rule: "minDigits", value: -1, allowed: 0...256)
      ),
      (
        ["minLength": 4, "maxLength": 8, "allowSequences": "no"],
        .malformed(.wrongType(member: "allowSequences", expected: .bool))
      ),
      (["minLength": 4, "maxLength": 8, "minlength": 6], .unknownRule("minlength")),
      (["minLength": 4, "maxLength": 8, "history": 5], .unknownRule("history")),
      (
        ["minLength": 4, "maxLength": 8, "maxHistory": 101],
        .outOfRange(rule: "maxHistory", value: 101, allowed: 0...100)
      ),
      (
        ["minLength": 4, "maxLength": 8, "minAge": -1],
        .outOfRange(rule: "minAge", value: -1, allowed: 0...3650)
      ),
      (
        ["minLength": 4, "maxLength": 8, "maxAge": 3651],
        .outOfRange(rule: "maxAge", value: 3651, allowed: 0...3650)
      ),
      (
        ["minLength": 4, "maxLength": 8, "minAge": 7, "maxAge": 7],
        .contradiction(rules: ["minAge", "maxAge"])
      ),
      (
        ["minLength": 4, "maxLength": 8, "cacheTimeout": 0],
        .outOfRange(rule: "cacheTimeout", value: 0, allowed: 1...3600)
      ),
      (
        ["minLength": 4, "maxLength": 8, "cacheEnabled": 1],
        .malformed(.wrongType(member: "cacheEnabled", expected: .bool))
      ),
      (
        ["minLength": 4, "maxLength": 8, "dictionary": "yes"],
        .malformed(.wrongType(member: "dictionary", expected: .bool))
      ),
    ] as [(JSONObject, PolicyFailure)])
  func passwordRefusals(json: JSONObject, failure: PolicyFailure) {
    #expect(throws: failure) { try PasswordPolicy(json) }
  }

  @Test(
    "refusals of a lock policy",
    arguments: [
      (["type": "lock"], .malformed(.missingMember("limit"))),
      (["type": "lock", "limit": 0], .outOfRange(rule: "limit", value: 0, allowed: 1...100)),
      (["type": "lock", "limit": 101], .outOfRange(rule: "limit", value: 101, allowed: 1...100)),
      (["type": "lock", "limit": "5"], .malformed(.wrongType(member: "limit", expected: .integer))),
      (["type": "none", "limit": 5], .unknownRule("limit")),
      (["type": "delay", "limit": 5], .unknownRule("limit")),
      (["type": "delay", "delay": 2], .malformed(.missingMember("counter"))),
      (
        ["type": "delay", "delay": 0, "counter": 6], .outOfRange(rule: "delay", value: 0, allowed: 1...18_900)
      ),
      (
        ["type": "delay", "delay": 302_401, "counter": 2],
        .outOfRange(rule: "delay", value: 302_401, allowed: 1...302_400)
      ),
      (["type": "delay", "delay": 2, "counter": 0], .outOfRange(rule: "counter", value: 0, allowed: 1...20)),
      (
        ["type": "delay", "delay": 2, "counter": 21], .outOfRange(rule: "counter", value: 21, allowed: 1...20)
      ),
      (["type": "coolDown"], .malformed(.missingMember("waits"))),
      (["type": "coolDown", "waits": []], .outOfRange(rule: "waits", value: 0, allowed: 1...99)),
      (
        ["type": "coolDown", "waits": .array(Array(repeating: 0, count: 100))],
        .outOfRange(rule: "waits", value: 100, allowed: 1...99)
      ),
      (["type": "coolDown", "waits": [0, -1]], .outOfRange(rule: "waits", value: -1, allowed: 0...604_800)),
      (
        ["type": "coolDown", "waits": [9_223_372_036_854_775_807]],
        .outOfRange(rule: "waits", value: .max, allowed: 0...604_800)
      ),
      (["type": "coolDown", "waits": ["0"]], .malformed(.wrongType(member: "waits", expected: .integer))),
      (["type": "coolDown", "waits": 0], .malformed(.wrongType(member: "waits", expected: .array))),
      (["type": "lock", "limit": 5, "atLimit": "explode"], .unknownType("explode")),
      (
        ["type": "lock", "limit": 5, "atLimit": 1],
        .malformed(.wrongType(member: "atLimit", expected: .string))
      ),
      (["type": "silent", "limit": 5], .unknownRule("limit")),
    ] as [(JSONObject, PolicyFailure)])
  func lockRefusals(json: JSONObject, failure: PolicyFailure) {
    #expect(throws: failure) { try LockPolicy(json) }
  }

  @Test("the locks with the largest and smallest values are read", arguments: [1, 100])
  func lockBounds(limit: Int) throws {
    #expect(try LockPolicy(LockPolicy.lock(limit: limit).json) == .lock(limit: limit))
  }
}
