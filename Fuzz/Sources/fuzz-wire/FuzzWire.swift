import LibFuzzer
import SignetCrypto
@testable import SignetWire

@main struct FuzzWire {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkActivation(input)
    checkRequests(input, text)
    checkTypedText(text)
  }

  private static func checkActivation(_ input: [UInt8]) {
    if let start = accepted({ () throws(WireFailure) in try ActivationStart(parsing: input) }) {
      require(start.bytes == input, "what is hashed is what came")
    }
    if let offer = accepted({ () throws(WireFailure) in try ActivationOffer(parsing: input) }) {
      require(offer.bytes == input, "what is hashed is what came")
      require((19_456...1_048_576).contains(offer.costs.memoryKiB), "no cost is too low or too high")
      let answer = StartAnswer(handshake: "h", offer: offer).bytes
      if answer.count <= Wire.maximumByteCount {
        let again = made("an answer") { () throws(WireFailure) in
          try StartAnswer<ActivationOffer>(parsing: answer)
        }
        require(again.offer.bytes == input, "an answer keeps its offer")
      }
    }
    roundTrip(input, StartAnswer<ActivationOffer>.init(parsing:), \.bytes)
    roundTrip(input, ActivationCore.init(parsing:), \.bytes)
    roundTrip(input, ActivationFinish.init(parsing:), \.bytes)
    roundTrip(input, RenewalFinish.init(parsing:), \.bytes)
    roundTrip(input, ActivationReceipt.init(parsing:), \.bytes)
    if let message = ActivationReceipt.message(in: input) {
      _ = accepted { () throws(WireFailure) in try SignedMessage.unverifiedPayload(of: message) }
    }
  }

  private static func checkRequests(_ input: [UInt8], _ text: String) {
    roundTrip(input, RequestProof.init(parsing:), \.bytes)
    roundTrip(input, TransactionList.init(parsing:), \.bytes)
    roundTrip(input, Decision.init(parsing:), \.bytes)
    roundTrip(input, Cancellation.init(parsing:), \.bytes)
    if let content = accepted({ () throws(WireFailure) in try TransactionContent(parsing: text) }) {
      // The text, and not the input: bytes that are no UTF-8 became replacement characters on the way.
      require(content.json.utf8.elementsEqual(text.utf8), "a content has one spelling")
    }
    if let proof = accepted({ () throws(WireFailure) in try RequestProof(parsing: input) }) {
      for now in [Int64.min, 0, 1_700_000_000] {
        _ = proof.covers(method: proof.method, path: proof.path, body: input, now: now)
      }
    }
    if let problem = Problem(parsing: input) {
      require(Problem(parsing: problem.bytes) == problem, "printing a problem loses nothing")
    }
    if let request = SignedRequest(authorization: text) { _ = request.proof(verifiedWith: key.publicKey) }
    _ = Decision(verifying: text, signedBy: key.publicKey)
    _ = KeySuccession(verifying: text, signedBy: key.publicKey)
    if let set = accepted({ () throws(WireFailure) in try ServerKeySet(parsing: input) }) {
      let server = made("a server URL") { () throws(ServerURLFailure) in try ServerURL("a.example/main") }
      require(set.successor(of: key.publicKey, called: "k", at: server) == nil, "nobody signed for it")
    }
    _ = SignedMessage.verify(text, key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)), type: "t")
  }

  private static func checkTypedText(_ text: String) {
    if let code = accepted({ () throws(ActivationCodeFailure) in try ActivationCode(parsing: text) }) {
      let again = made("a printed code") { () throws(ActivationCodeFailure) in
        try ActivationCode(parsing: code.text)
      }
      require(again == code, "printing an activation code loses nothing")
    }
    if let url = accepted({ () throws(ServerURLFailure) in try ServerURL(text) }) {
      for form in [url.shortForm, url.fullForm] {
        let again = made("a printed URL") { () throws(ServerURLFailure) in try ServerURL(form) }
        require(again == url && again.fullForm == url.fullForm, "printing a server URL loses nothing")
      }
      require(url.origin.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an origin is visible ASCII")
      require(!url.origin.contains("@") && !url.url(path: "a").contains("?"), "a URL has no other parts")
    }
    if let user = accepted({ () throws(WireFailure) in try UserID(text) }) {
      require(user.text.utf8.elementsEqual(text.utf8), "a user id is kept as it is")
    }
    if let code = accepted({ () throws(InviteCodeFailure) in try InviteCode(text) }) {
      let again = made("a printed code") { () throws(InviteCodeFailure) in try InviteCode(code.typedForm) }
      require(again == code, "printing an invite code loses nothing")
    }
    _ = accepted { () throws(WireFailure) in try DisplayText.check(text) }
    _ = accepted { () throws(WireFailure) in try ServerMadeID(text) }
    if let link = accepted({ () throws(WireFailure) in try TransactionLink(parsing: text) }) {
      require(link.text.utf8.elementsEqual(text.utf8), "a link has one spelling")
    }
    _ = accepted { () throws(WireFailure) in
      try OfflineTransaction(verifying: text, signedBy: key.publicKey)
    }
  }

  /// What is read, printed and read again is printed alike.
  private static func roundTrip<Message>(
    _ input: [UInt8], _ parse: ([UInt8]) throws(WireFailure) -> Message, _ bytes: (Message) -> [UInt8]
  ) {
    guard let message = accepted({ () throws(WireFailure) in try parse(input) }) else { return }
    let printed = bytes(message)
    // Without its white space and needless escapes a message is not longer than it was.
    require(printed.count <= input.count, "printing adds nothing")
    let again = made("a printed message") { () throws(WireFailure) in try parse(printed) }
    require(bytes(again) == printed, "printing a message loses nothing")
  }

  private static let key = P256.Signing.PrivateKey()
}
