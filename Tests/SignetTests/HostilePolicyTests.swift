import Signet
import SignetProtocol
import Testing

/// A server that sends invalid policies: they are rejected at once, and nothing is stored or sent.
@Suite struct HostilePolicyTests {
  private static func password(_ rules: String, lock: String = #"{"type":"lock","limit":5}"#) -> String {
    #"{"type":"password","password":{\#(rules)},"lock":\#(lock)}"#
  }

  private static let sound = #""minLength":6,"maxLength":64"#

  @Test(
    "numbers out of range, contradictions, unknown members and types",
    arguments: [
      password(#""minLength":9223372036854775807,"maxLength":64"#),
      password(#""minLength":-9223372036854775808,"maxLength":64"#),
      password(#""minLength":6,"maxLength":1e300"#), password(#""minLength":6.5,"maxLength":64"#),
      password(#""minLength":9,"maxLength":8"#), password(#""minLength":4,"maxLength":6,"minDigits":8"#),
      password(sound + #","minAge":9,"maxAge":9"#), password(sound + #","maxAge":9223372036854775807"#),
      password(sound + #","maxHistory":1000000"#),
      password(sound + #","cacheEnabled":true,"cacheTimeout":0"#),
      password(sound + #","cacheTimeout":9223372036854775807"#), password(sound + #","maxRepeats":0"#),
      password(sound + #","color":"red""#), password(sound + #","minLength":6"#), password("\"minLength\":6"),
      password(sound, lock: #"{"type":"lock","limit":0}"#),
      password(sound, lock: #"{"type":"lock","limit":9223372036854775807}"#),
      password(sound, lock: #"{"type":"delay","delay":9223372036854775807,"counter":20}"#),
      password(sound, lock: #"{"type":"delay","delay":1,"counter":64}"#),
      password(sound, lock: #"{"type":"coolDown","waits":[]}"#),
      password(sound, lock: #"{"type":"coolDown","waits":[-1]}"#),
      password(sound, lock: #"{"type":"coolDown","waits":[9223372036854775807]}"#),
      password(sound, lock: "{\"type\":\"coolDown\",\"waits\":[0\(String(repeating: ",0", count: 99))]}"),
      password(sound, lock: #"{"type":"explode"}"#),
      password(sound, lock: #"{"type":"lock","limit":5,"atLimit":"explode"}"#),
      #"{"type":"password"}"#, #"{"type":"device","lock":{"type":"none"}}"#, #"{"type":7}"#, "{}", "[]", "7",
      #"{"type":"biometric"}"#, #"{"type":"devicePasscode"}"#,
    ])
  func refuses(policy: String) async throws {
    var lies = HostileServer.Lies()
    lies.offer = { bytes in
      let honest = String(decoding: bytes, as: UTF8.self)
      let offer = honest.replacing(#""protection":{"type":"device"}"#, with: #""protection":\#(policy)"#)
      if offer == honest { Issue.record("the offer has no protection to replace") }
      return Array(offer.utf8)
    }
    let code = try ActivationCode.made()
    let server = HostileServer(code, lies)
    let fixture = try DeviceFixture(server)
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.activate(code, password: "correct horse")
    }
    switch failure {
    case .unsupportedProfile, .unexpectedAnswer(status: 200): break
    default: Issue.record("\(policy): \(String(describing: failure))")
    }
    #expect(try await fixture.isEmpty)
    #expect(server.requests == ["start"])
  }

  @Test("passwords that cannot be typed are refused by a rule", arguments: [0, 1, 1 << 20])
  func hostilePasswords(byteCount: Int) async throws {
    let code = try ActivationCode.made()
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = HostileServer(code, protection: .password(policy, .lock(limit: 3)))
    let fixture = try DeviceFixture(server)
    for character in ["a", "\0", "\u{202E}"] {
      let failure = await #expect(throws: SignetError.self) {
        try await fixture.activate(code, password: String(repeating: character, count: byteCount))
      }
      guard case .passwordRefused(let violations) = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(!violations.isEmpty)
    }
    #expect(try await fixture.isEmpty)
  }
}
