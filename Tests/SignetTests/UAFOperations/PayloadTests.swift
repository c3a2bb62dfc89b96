import Signet
import SignetCrypto
import SignetJSON
import SignetUAFClient
import Testing

@Suite("Out-of-band UAF payloads")
struct PayloadTests {
  static let good = """
    {"nma_data":{"token":"4d6f","redeem_url":"https://id.example.org/nevisfido/token/redeem/authentication","data":"hi"},\
    "nma_data_content_type":"application/json","nma_data_version":"1"}
    """

  private func read(_ text: String) throws(UAFPayloadFailure) -> OutOfBandPayload {
    let delivered = try DeliveredPayload(anyForm: text)
    guard case .plain(let object) = delivered.content else { throw .malformed("encrypted") }
    return try OutOfBandPayload(object, wasEncrypted: false)
  }

  @Test("JSON, base64url, link and enrolment payloads are read alike")
  func forms() throws {
    let expected = try read(Self.good)
    #expect((expected.token, expected.operation, expected.data) == ("4d6f", .authentication, "hi"))
    let encoded = Base64URL.encode(Array(Self.good.utf8))
    #expect(try read(encoded) == expected)
    let link = "https://app.example.org/open?lang=de&dispatchTokenResponse=\(encoded)#top"
    #expect(try read(link) == expected)
    let answers: [JSONObject] = [
      ["enrollment": ["appLinkUri": .string(link)]],
      ["token": "x", "dispatcherInformation": ["name": "link", "response": .string(link)]],
    ]
    for answer in answers {
      let delivered = try DeliveredPayload(enrolmentResponse: answer.bytes)
      guard case .plain(let object) = delivered.content else { return failed("encrypted") }
      #expect(try OutOfBandPayload(object, wasEncrypted: false) == expected)
    }
  }

  @Test("in a push payload all members are strings")
  func push() throws {
    let inner = #"{"token":"4d6f","redeem_url":"https://id.example.org/nevisfido/token/redeem/registration"}"#
    let push: JSONObject = [
      "nma_data": .string(inner), "nma_data_content_type": "application/json", "nma_data_version": "1",
    ]
    #expect(try read(push.text).operation == .registration)
  }

  @Test(
    "any other payload is refused as malformed",
    arguments: [
      "", "{", "[]", "{}", "nothing", "https://app.example.org/open", "https://a/?dispatchTokenResponse=",
      "https://a/?dispatchTokenResponse=e30&dispatchTokenResponse=e30",
      #"{"nma_data":1,"nma_data_content_type":"application/json"}"#,
      #"{"nma_data":{},"nma_data_content_type":"text/plain"}"#,
      #"{"nma_data":{},"nma_data_version":"2"}"#,
      #"{"nma_data":{"token":"a"}}"#,
      #"{"nma_data":{"token":"","redeem_url":"https://a/token/redeem/registration"}}"#,
      #"{"nma_data":{"token":"a","redeem_url":"http://a/token/redeem/registration"}}"#,
      #"{"nma_data":{"token":"a","redeem_url":"https://a/token/redeem/other"}}"#,
      #"{"nma_data":{"token":"a","redeem_url":"https://u@a/token/redeem/registration"}}"#,
      #"{"nma_data":{"token":"a b","redeem_url":"https://a/token/redeem/registration"}}"#,
      #"{"nma_data":{"token":"a","redeem_url":"https://a/registration?x"}}"#,
      #"{"nma_data":{"token":"a","token":"b","redeem_url":"https://a/token/redeem/registration"}}"#,
    ])
  func refused(_ text: String) {
    #expect {
      _ = try read(text)
    } throws: { error in
      if case UAFPayloadFailure.malformed = error { true } else { false }
    }
  }

  @Test("too large a payload is refused")
  func large() {
    let filler = String(repeating: "a", count: 20_000)
    let text = Self.good.replacing("hi", with: filler)
    #expect(throws: UAFPayloadFailure.self) { _ = try read(text) }
  }
}
