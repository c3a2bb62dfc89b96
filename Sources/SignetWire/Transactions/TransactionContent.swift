public import SignetJSON

/// What a user is asked: the one text that is shown and signed (`docs/protocol.md` section 5).
///
/// It is canonical JSON, made once. Reading it gives what to show, and writing that again gives the same bytes: what does not
/// is refused, so no part of it stays unseen.
public struct TransactionContent: Hashable, Sendable {
  /// The most bytes that a content has.
  public static let maximumByteCount = 4096

  /// What is asked.
  public enum Matter: Hashable, Sendable {
    /// A plain text.
    case text(String)
    /// Typed fields.
    case form(TransactionForm)
    /// Whether the user signs in, without a text: so asks an authenticator that has words of its own for that.
    case signIn
  }

  /// Who asks.
  public enum Origin: Hashable, Sendable {
    /// A relying party, by the name that the server's operator gave it.
    case relyingParty(String)
    /// The device itself, at its user's wish.
    case device
  }

  /// Who asks.
  public let origin: Origin
  /// Where the user is said to be, if anything is said.
  public let context: TransactionContext?
  /// What is asked.
  public let matter: Matter
  /// The canonical JSON: what is signed, byte for byte.
  public let json: String

  /// Puts a content together.
  ///
  /// - Parameters:
  ///   - matter: What is asked.
  ///   - origin: Who asks.
  ///   - context: Where the user is said to be.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for what would not show as it is, or is too long.
  public init(
    _ matter: Matter, from origin: Origin, context: TransactionContext? = nil
  ) throws(WireFailure) {
    (self.matter, self.origin) = (matter, origin)
    self.context = context.flatMap { $0.isEmpty ? nil : $0 }
    switch matter {
    case .text(let text): try DisplayText.check(text)
    case .form(let form): try form.check()
    case .signIn:
      guard origin != .device else {
        throw .invalid(member: "signIn", reason: "is for a relying party to ask")
      }
    }
    if case .relyingParty(let name) = origin {
      try DisplayText.checkLine(name, member: "from", limit: 128)
    }
    try context?.check()
    let bytes = JSONValue.object(Self.object(matter, origin, self.context)).bytes(.sorted)
    guard bytes.count <= Self.maximumByteCount else {
      throw .invalid(
        member: "content",
        reason: "has \(bytes.count) bytes; what is shown has at most \(Self.maximumByteCount) in all")
    }
    json = String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a content.
  ///
  /// - Throws: ``WireFailure``, above all where another text would say the same, or a part is not known here.
  public init(parsing text: String) throws(WireFailure) {
    let object = try Wire.object(Array(text.utf8), maximumByteCount: Self.maximumByteCount)
    try object.refuseMembers(except: ["context", "form", "from", "initiated", "signIn", "text"])
    let context = try Wire.reading(object.optionalObject("context"))
    try self.init(
      Self.matter(object), from: Self.origin(object),
      context: try context.map { (members) throws(WireFailure) in try TransactionContext(members) })
    guard json.utf8.elementsEqual(text.utf8) else {
      throw .invalid(member: "content", reason: "is not in its canonical form")
    }
  }

  /// Reads what is asked: exactly one of `text`, `form` and `signIn`, which is `true`.
  ///
  /// - Throws: ``WireFailure``.
  public static func matter(_ object: JSONObject) throws(WireFailure) -> Matter {
    let text = try Wire.reading(object.optionalString("text"))
    let form = try Wire.reading(object.optionalObject("form"))
    switch (text, form, object["signIn"]) {
    case (let text?, nil, nil): return .text(text)
    case (nil, let form?, nil): return .form(try TransactionForm(form))
    case (nil, nil, true?): return .signIn
    default: throw .invalid(member: "text", reason: "or \"form\" or \"signIn\" is needed, and one alone")
    }
  }

  private static func origin(_ object: JSONObject) throws(WireFailure) -> Origin {
    let from = try Wire.reading(object.optionalString("from"))
    let initiated = try Wire.reading(object.optionalString("initiated"))
    if let from, initiated == nil { return .relyingParty(from) }
    guard from == nil, let initiated, initiated.utf8.elementsEqual("device".utf8) else {
      throw .invalid(member: "from", reason: "is needed, or \"initiated\" is \"device\"")
    }
    return .device
  }

  private static func object(
    _ matter: Matter, _ origin: Origin, _ context: TransactionContext?
  ) -> JSONObject {
    var object = JSONObject()
    switch matter {
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

  /// Equal where every byte is: `==` of `String` is more lenient.
  public static func == (left: Self, right: Self) -> Bool { left.json.utf8.elementsEqual(right.json.utf8) }

  /// Feeds what equality looks at.
  public func hash(into hasher: inout Hasher) {
    for byte in json.utf8 { hasher.combine(byte) }
  }
}
