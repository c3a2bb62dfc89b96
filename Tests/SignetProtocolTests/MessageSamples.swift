import SignetCrypto
import SignetJSON
import SignetProtocol

/// A message as bytes, with its parser.
struct MessageSample: Sendable, CustomStringConvertible {
  let name: String
  let bytes: [UInt8]
  /// Parses bytes and writes the message again.
  let reprint: @Sendable ([UInt8]) throws -> [UInt8]

  var description: String { name }

  /// Returns the message with a member set, or removed for a `nil` value; `path` leads through inner objects.
  func setting(_ path: String..., to value: JSONValue?) throws -> [UInt8] {
    JSONValue.object(try Self.set(JSONObject(parsing: bytes), path[...], value)).bytes
  }

  private static func set(
    _ object: JSONObject, _ path: ArraySlice<String>, _ value: JSONValue?
  ) throws -> JSONObject {
    var object = object
    guard let name = path.first else { return object }
    if path.count > 1 {
      object[name] = .object(try set(object.object(name), path.dropFirst(), value))
    } else {
      object[name] = value
    }
    return object
  }

  static func all() throws -> [MessageSample] {
    let vector = try ProtocolVector.load()[1]
    let offer = try ActivationOffer(parsing: vector.utf8("offer"))
    let finish = ActivationFinish(
      handshake: "aGFuZHNoYWtl", message: try vector.text("deviceMessage"),
      possession: try vector.text("possession"))
    let renewal = StartAnswer(
      handshake: "aGFuZHNoYWtl",
      offer: RenewalOffer(
        key: offer.key, server: offer.server, profile: offer.profile, expires: offer.expires,
        random: SystemRandomSource()))
    return [
      MessageSample(name: "start", bytes: try vector.utf8("start")) {
        try ActivationStart(parsing: $0).bytes
      },
      MessageSample(name: "offer", bytes: offer.bytes) { try ActivationOffer(parsing: $0).bytes },
      MessageSample(
        name: "start answer", bytes: StartAnswer(handshake: "aGFuZHNoYWtl", offer: offer).bytes
      ) {
        try StartAnswer<ActivationOffer>(parsing: $0).bytes
      },
      MessageSample(name: "core", bytes: try vector.utf8("core")) { try ActivationCore(parsing: $0).bytes },
      MessageSample(name: "finish", bytes: finish.bytes) { try ActivationFinish(parsing: $0).bytes },
      MessageSample(name: "receipt", bytes: try vector.utf8("receipt")) {
        try ActivationReceipt(parsing: $0).bytes
      },
      MessageSample(name: "confirm", bytes: try vector.utf8("confirm")) {
        try ActivationConfirm(parsing: $0).bytes
      },
      MessageSample(name: "request", bytes: try vector.utf8("request")) {
        try RequestProof(parsing: $0).bytes
      },
      MessageSample(name: "decision", bytes: try vector.utf8("decisionPayload")) {
        try Decision(parsing: $0).bytes
      },
      MessageSample(name: "transactions", bytes: try vector.utf8("transactions")) {
        try TransactionList(parsing: $0).bytes
      },
      MessageSample(
        name: "renewal start",
        bytes: RenewalStart(container: try ContainerID("c1"), random: SystemRandomSource()).bytes
      ) { try RenewalStart(parsing: $0).bytes },
      MessageSample(name: "renewal offer", bytes: renewal.offer.bytes) {
        try RenewalOffer(parsing: $0).bytes
      },
      MessageSample(name: "renewal start answer", bytes: renewal.bytes) {
        try StartAnswer<RenewalOffer>(parsing: $0).bytes
      },
      MessageSample(name: "renewal core", bytes: try renewalCore(vector).bytes) {
        try RenewalCore(parsing: $0).bytes
      },
      MessageSample(
        name: "renewal finish",
        bytes: RenewalFinish(
          handshake: "aGFuZHNoYWtl", message: "a.b.c", proof: [UInt8](repeating: 7, count: 32),
          possession: "a.b.c"
        ).bytes
      ) { try RenewalFinish(parsing: $0).bytes },
      MessageSample(name: "end notice", bytes: try endNotice().bytes) { try EndNotice(parsing: $0).bytes },
      MessageSample(name: "activation code", bytes: try code(vector).text.utf8.map { $0 }) {
        Array(try ActivationCode(parsing: String(decoding: $0, as: UTF8.self)).text.utf8)
      },
      MessageSample(name: "problem", bytes: Problem(.activationRefused, "Check the invite.").bytes) {
        guard let problem = Problem(parsing: $0) else { throw WireFailure.notAuthentic }
        return problem.bytes
      },
    ]
  }

  static func named(_ name: String) throws -> MessageSample {
    guard let sample = try all().first(where: { $0.name == name }) else { throw WireFailure.notAuthentic }
    return sample
  }

  /// The core of the vector's activation, turned into a renewal of the container `c1`.
  static func renewalCore(_ vector: ProtocolVector) throws -> RenewalCore {
    let core = try ActivationCore(parsing: vector.utf8("core"))
    return RenewalCore(
      container: try ContainerID("c1"), user: core.user, server: core.server, agreement: core.agreement,
      keys: core.keys, device: core.device)
  }

  static func endNotice(_ event: EndNotice.Event = .deleted) throws -> EndNotice {
    try EndNotice(
      container: ContainerID("c1"), server: ServerURL("signet.example.com/main"),
      device: [UInt8](repeating: 7, count: 16), event: event, reason: "lost my phone", time: 1_795_231_200)
  }

  static func code(_ vector: ProtocolVector) throws -> ActivationCode {
    ActivationCode(
      server: try ServerURL("signet.example.com/main"), user: try UserID("jörg"),
      invite: try InviteCode(vector.text("invite")),
      pins: [[UInt8](repeating: 7, count: 32), [UInt8](repeating: 9, count: 32)])
  }
}
