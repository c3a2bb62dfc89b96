public import SignetJSON
import SignetSystem

/// The content of a transaction: the one text that the device displays and signs (`docs/protocol.md` section 5).
///
/// It is canonical JSON. A parsed content must encode to exactly the same bytes, so that no part of the signed text stays
/// hidden from the user.
public struct TransactionContent: Hashable, Sendable {
  /// The largest content, in bytes of its JSON.
  public static let maximumByteCount = 4096

  /// The kinds of questions to a user.
  public enum Body: Hashable, Sendable {
    /// A plain text.
    case text(String)
    /// Typed fields.
    case form(TransactionForm)
    /// A sign-in without a text: the authenticator uses its own wording.
    case signIn
  }

  /// The parties that can ask.
  public enum Origin: Hashable, Sendable {
    /// A relying party, by the name that the server's operator gave it.
    case relyingParty(String)
    /// The device itself, at the user's request.
    case device
  }

  /// The party that asks.
  public let origin: Origin
  /// The user's alleged circumstances, if the relying party stated any.
  public let context: TransactionContext?
  /// The question to the user.
  public let body: Body
  /// The canonical JSON: the signed bytes.
  public let json: String

  /// Creates a content.
  ///
  /// - Parameters:
  ///   - body: The question to the user.
  ///   - origin: The party that asks.
  ///   - context: The user's alleged circumstances.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for text that ``DisplayText`` rejects, or a content that is too long.
  public init(
    _ body: Body, from origin: Origin, context: TransactionContext? = nil
  ) throws(WireFailure) {
    (self.body, self.origin) = (body, origin)
    self.context = context.flatMap { $0.isEmpty ? nil : $0 }
    switch body {
    case .text(let text): try DisplayText.check(text)
    case .form(let form): try form.check()
    case .signIn:
      guard origin != .device else {
        throw .invalid(member: "signIn", reason: "is allowed in requests of relying parties only")
      }
    }
    if case .relyingParty(let name) = origin {
      try DisplayText.checkLine(name, member: "from", limit: 128)
    }
    try context?.check()
    let bytes = JSONValue.object(Self.object(body, origin, self.context)).bytes(.sorted)
    guard bytes.count <= Self.maximumByteCount else {
      throw .invalid(
        member: "content",
        reason: "has \(bytes.count) bytes; the limit is \(Self.maximumByteCount) in all")
    }
    json = String(decoding: bytes, as: UTF8.self)
  }

  /// Parses a content.
  ///
  /// - Throws: ``WireFailure``, also if the text is not in canonical form or has an unknown member.
  public init(parsing text: String) throws(WireFailure) {
    let object = try Wire.object(Array(text.utf8), maximumByteCount: Self.maximumByteCount)
    try object.refuseMembers(except: ["context", "form", "from", "initiated", "signIn", "text"])
    let context = try Wire.reading(object.optionalObject("context"))
    try self.init(
      Self.body(object), from: Self.origin(object),
      context: try context.map { (members) throws(WireFailure) in try TransactionContext(members) })
    guard json.hasSameBytes(as: text) else {
      throw .invalid(member: "content", reason: "is not in its canonical form")
    }
  }

  /// Parses the question: exactly one of `text`, `form` and `signIn`, which is `true`.
  ///
  /// - Throws: ``WireFailure`` if none or several of them are present, or one is malformed.
  public static func body(_ object: JSONObject) throws(WireFailure) -> Body {
    let text = try Wire.reading(object.optionalString("text"))
    let form = try Wire.reading(object.optionalObject("form"))
    switch (text, form, object["signIn"]) {
    case (let text?, nil, nil): return .text(text)
    case (nil, let form?, nil): return .form(try TransactionForm(form))
    case (nil, nil, true?): return .signIn
    default:
      throw .invalid(member: "text", reason: "or \"form\" or \"signIn\" is required, exactly one of them")
    }
  }

  private static func origin(_ object: JSONObject) throws(WireFailure) -> Origin {
    let from = try Wire.reading(object.optionalString("from"))
    let initiated = try Wire.reading(object.optionalString("initiated"))
    if let from, initiated == nil { return .relyingParty(from) }
    guard from == nil, let initiated, initiated.hasSameBytes(as: "device") else {
      throw .invalid(member: "from", reason: "is required, or \"initiated\" must be \"device\"")
    }
    return .device
  }

  private static func object(
    _ body: Body, _ origin: Origin, _ context: TransactionContext?
  ) -> JSONObject {
    var object = JSONObject()
    switch body {
    case .text(let text): object["text"] = .string(text)
    case .form(let form): object["form"] = .object(form.json)
    case .signIn: object["signIn"] = true
    }
    switch origin {
    case .relyingParty(let name): object["from"] = .string(name)
    case .device: object["initiated"] = "device"
    }
    if let context { object["context"] = .object(context.json) }
    return object
  }

  /// Compares byte for byte: `==` of `String` treats canonically equivalent texts as equal.
  public static func == (left: Self, right: Self) -> Bool { left.json.hasSameBytes(as: right.json) }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    for byte in json.utf8 { hasher.combine(byte) }
  }
}
