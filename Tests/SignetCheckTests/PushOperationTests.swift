import SignetJSON
import Testing

@Suite("Push messages in signet-check", .timeLimit(.minutes(10)))
struct PushOperationTests {
  /// Made with Python's hmac and base64 from the description of the format; the secret is the bytes 0 to 31.
  private static let token =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJjIjoiWkdWbVoyaHBhbXRzYlc1dmNIRnljM1IxZG5kNGVYcDdmSDErZjRDQmdvTT0iLCJsIjoiWVcxc1ltTnZiMnRwWlQwd01RPT0iLCJ0IjoiMTIwIiwidSI6IkEzRDhGMEMxLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsImkiOiIxNzAwMDAwMDAwMDAwIiwibSI6IkxvZ2luIGF0IEV4YW1wbGUiLCJrIjoiY2hhbGxlbmdlIiwibiI6IjM0LCA1Nix4LDgyIiwicCI6IntcImFcIjoxfSIsIngiOiJ7XCJsb2NhdGlvblwiOnt9fSIsImQiOiJkZW1vIn0.vLsLo0xyrBXMSXcjeK5n3qvoLqMZOS0cSx35gBtsZiU"

  private func answer(_ changes: JSONObject = [:]) throws -> JSONObject {
    var request: JSONObject = [
      "op": "push-message", "jwt": .string(Self.token), "messageId": "AUTHENTICATE:1",
      "secretB64": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    ]
    for change in changes.members {
      if change.value == .null {
        request[change.name] = Optional.none
      } else {
        request[change.name] = change.value
      }
    }
    return try CheckTool.answer(to: request)
  }

  @Test("a message with all claims") func message() throws {
    #expect(
      try answer().ok == [
        "mechanismId": "A3D8F0C1-0000-4000-8000-000000000001",
        "challengeB64": "ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1-f4CBgoM", "timeToLive": 120,
        "pushType": "challenge", "loadBalancer": "amlbcookie=01", "createdAtMillis": 1_700_000_000_000,
        "numbers": [34, 56, 82], "message": "Login at Example", "customPayload": #"{"a":1}"#,
        "context": #"{"location":{}}"#, "userId": "demo",
      ])
  }

  @Test("refusals have stable codes") func refusals() throws {
    let (head, rest) = (Self.token.prefix(37), Self.token.dropFirst(37))
    for (changes, code) in [
      (["messageId": .null], "input.missing"), (["jwt": .null], "input.missing"),
      (["secretB64": .null], "input.missing"), (["secretB64": "$"], "input.invalid"),
      (["secretB64": ""], "push.secret"), (["messageId": ""], "push.missing"),
      (["secretB64": "AAEC"], "jws.signature"), (["jwt": "a.b"], "jose.malformed"),
      (["jwt": .string("eyJhbGciOiJub25lIn0.\(rest)")], "jose.algorithm"),
      (["jwt": .string("\(head)e30.AA")], "push.missing"),
      (["jwt": .string("\(head)W10.AA")], "push.malformed"),
      (["jwt": .string("\(head)eyJ1IjoidSJ9.AA")], "jws.signature"),
    ] as [(JSONObject, String)] {
      let answer = try answer(changes)
      #expect(answer.errorCode == code, "\(changes.text) \(answer.text)")
    }
  }
}
