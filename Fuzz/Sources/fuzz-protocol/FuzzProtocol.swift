import LibFuzzer
import SignetCrypto
import SignetJSON
@testable import SignetProtocol

@main struct FuzzProtocol {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkActivation(input)
    checkRenewal(input)
    checkPushTargets(input)
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
    roundTrip(input, ActivationConfirm.init(parsing:), \.bytes)
    roundTrip(input, ActivationReceipt.init(parsing:), \.bytes)
    if let message = ActivationReceipt.message(in: input) {
      _ = accepted { () throws(WireFailure) in try SignedMessage.unverifiedPayload(of: message) }
    }
  }

  private static func checkRenewal(_ input: [UInt8]) {
    if let start = accepted({ () throws(WireFailure) in try RenewalStart(parsing: input) }) {
      require(start.bytes == input, "what is hashed is what came")
    }
    if let offer = accepted({ () throws(WireFailure) in try RenewalOffer(parsing: input) }) {
      require(offer.bytes == input, "what is hashed is what came")
      let answer = StartAnswer(handshake: "h", offer: offer).bytes
      if answer.count <= Wire.maximumByteCount {
        let again = made("an answer") { () throws(WireFailure) in
          try StartAnswer<RenewalOffer>(parsing: answer)
        }
        require(again.offer.bytes == input, "an answer keeps its offer")
      }
    }
    roundTrip(input, StartAnswer<RenewalOffer>.init(parsing:), \.bytes)
    roundTrip(input, RenewalCore.init(parsing:), \.bytes)
    roundTrip(input, RenewalFinish.init(parsing:), \.bytes)
    roundTrip(input, EndNotice.init(parsing:), \.bytes)
  }

  private static func checkPushTargets(_ input: [UInt8]) {
    roundTrip(input, PushTargetForm.init(parsing:), \.bytes)
    if let form = accepted({ () throws(WireFailure) in try PushTargetForm(parsing: input) }) {
      check(form.target)
      require(form.name?.unicodeScalars.contains("\n") != true, "a name is one line")
    }
    if let list = accepted({ () throws(WireFailure) in try PushTargetList(parsing: input) }) {
      for entry in list.targets { check(entry.target) }
      // Not compared as bytes: unknown parts are left out.
      let again = made("a printed list") { () throws(WireFailure) in
        try PushTargetList(parsing: JSONValue.object(list.json).bytes)
      }
      require(again == list, "printing a list loses nothing")
    }
  }

  /// A device names the address to which the server sends: it must have only a host and a port, both plain.
  private static func check(_ target: PushTarget?) {
    guard case .webPush(let subscription)? = target else { return }
    require(subscription.endpoint.hasPrefix(subscription.origin), "an endpoint begins with its origin")
    require(subscription.origin.hasPrefix("https://"), "nothing goes in the clear")
    let host = subscription.authority.prefix { $0 != ":" }
    require(
      !host.isEmpty && host.utf8.allSatisfy { byte in byte.isHostByte }, "a host has no user and no path")
    require(!subscription.authority.hasSuffix(":443"), "one host has one name")
  }

  private static func checkRequests(_ input: [UInt8], _ text: String) {
    roundTrip(input, RequestProof.init(parsing:), \.bytes)
    roundTrip(input, TransactionList.init(parsing:), \.bytes)
    roundTrip(input, Decision.init(parsing:), \.bytes)
    roundTrip(input, Cancellation.init(parsing:), \.bytes)
    if let content = accepted({ () throws(WireFailure) in try TransactionContent(parsing: text) }) {
      // Compared with the text, since bytes that are no UTF-8 became replacement characters.
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
    do throws(TypedValue.Failure) {
      let value = try TypedValue(text)
      let again = try TypedValue(value.description)
      require(again == value, "a value has one form, which reads as itself")
      require((1...TypedValue.maximumLength).contains(value.description.utf8.count), "a value is bounded")
    } catch {
      require(!error.description.isEmpty, "a refusal says why")
    }
    if let code = accepted({ () throws(InviteCodeFailure) in try InviteCode(text) }) {
      let again = made("a printed code") { () throws(InviteCodeFailure) in try InviteCode(code.typedForm) }
      require(again == code, "printing an invite code loses nothing")
    }
    _ = accepted { () throws(WireFailure) in try DisplayText.check(text) }
    let isLine = accepted { () throws(WireFailure) in
      try DisplayText.checkLine(text, member: "m", limit: 64)
      return true
    }
    require(isLine == nil || !text.unicodeScalars.contains("\n"), "a line is one")
    let typed = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let approval = accepted({ () throws(TypedApprovalFailure) in
      try TypedApproval(challenge: typed[0], values: Array(typed.dropFirst()))
    }) {
      require(approval.challenge.utf8.count == TypedApproval.challengeLength, "a challenge has its digits")
      require(approval.values.count == typed.count - 1, "no value is lost")
    }
    _ = accepted { () throws(WireFailure) in try ContainerID(text) }
    if let link = accepted({ () throws(WireFailure) in try TransactionLink(parsing: text) }) {
      require(link.text.utf8.elementsEqual(text.utf8), "a link has one spelling")
    }
    _ = accepted { () throws(WireFailure) in
      try OfflineTransaction(verifying: text, signedBy: key.publicKey)
    }
  }

  /// A message that is read, printed and read again is printed in the same way.
  private static func roundTrip<Message>(
    _ input: [UInt8], _ parse: ([UInt8]) throws(WireFailure) -> Message, _ bytes: (Message) -> [UInt8]
  ) {
    guard let message = accepted({ () throws(WireFailure) in try parse(input) }) else { return }
    let printed = bytes(message)
    // Without white space and needless escapes, a message is not longer than before.
    require(printed.count <= input.count, "printing adds nothing")
    let again = made("a printed message") { () throws(WireFailure) in try parse(printed) }
    require(bytes(again) == printed, "printing a message loses nothing")
  }

  /// No message is signed with it.
  private static let key = made("a key") { () throws(CryptoFailure) in
    try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](65...96)))
  }
}

extension UInt8 {
  /// Indicates whether it is one of `a-z 0-9 . -`.
  fileprivate var isHostByte: Bool {
    (0x61...0x7A).contains(self) || (0x30...0x39).contains(self) || self == 0x2E || self == 0x2D
  }
}
