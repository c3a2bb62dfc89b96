import LibFuzzer
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
@testable import SignetPush

/// The answers of Google's and Apple's push services.
enum PushServices {
  /// Answers requests for access tokens, so that the message reaches the service.
  private static let token = HTTPResponse(
    status: 200, body: Array(#"{"access_token":"t","expires_in":3600}"#.utf8))
  private static let message = PushMessage(envelope: "e", topic: "t", expires: 1_700_000_300)

  static func check(_ response: HTTPResponse) {
    for answers in [[response], [token, response]] {
      check(
        FCMDispatcher(account, over: FixedTransport(answers), clock: StoppedClock()), .fcm(token: "d"),
        isTaken: response.status == 200)
    }
    check(
      APNsDispatcher(credentials, over: FixedTransport(response), clock: StoppedClock()),
      .apns(token: [UInt8](1...32)), isTaken: response.status == 200)
  }

  private static func check(_ dispatcher: some PushDispatcher, _ target: PushTarget, isTaken: Bool) {
    let wasTaken = waiting { () -> Bool in
      do throws(PushFailure) {
        try await dispatcher.send(message, to: target)
        return true
      } catch {
        let text = error.description
        require((1...400).contains(text.utf8.count), "a reason is bounded")
        require(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a reason is a line")
        if case .tryAgain(let seconds?, _) = error {
          require((0...3_600).contains(seconds), "a wait is bounded")
        }
        return false
      }
    }
    require(!wasTaken || isTaken, "a refusal is no success")
  }

  private static let account = made("an account") { () throws(PushSettingsFailure) in
    try FCMServiceAccount(keyFile: FuzzedAccount.keyFile)
  }
  private static let credentials = APNsCredentials(
    key: made("a key") { () throws(CryptoFailure) in
      try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](1...32)))
    }, keyID: "ABCDEFGHIJ", teamID: "KLMNOPQRST", topic: "org.example.app")
}

/// A service account for FCM.
private enum FuzzedAccount {
  static var keyFile: [UInt8] {
    let file: JSONObject = [
      "project_id": "p", "client_email": "a@example.org", "private_key_id": "k",
      "token_uri": "https://oauth.example/token", "private_key": .string(FixedRSAKey.pem),
    ]
    return file.bytes
  }
}
