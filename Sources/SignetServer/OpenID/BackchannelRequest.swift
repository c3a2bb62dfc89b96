import SignetProtocol

/// The parameters of an authentication request (CIBA section 7.1), parsed and limited in size.
///
/// The user of the hint is not looked up yet.
package struct BackchannelRequest: Sendable {
  enum Hint: Hashable, Sendable {
    /// `login_hint`: a user id.
    case user(String)
    /// `login_hint_token`: a token issued by the client.
    case token(String)
    /// `id_token_hint`: a token issued by this server.
    case idToken(String)
  }

  /// The longest time for the decision, in seconds.
  static let longestExpiry: Int64 = 86_400
  static let expiryName = "requested_expiry"
  /// The parameters that a signed request contains and that must not appear outside it.
  package static let parameterNames = [
    "scope", "client_notification_token", "acr_values", "login_hint_token", "id_token_hint", "login_hint",
    "binding_message", "user_code", expiryName,
  ]

  let hint: Hint
  /// The message that both screens display; `nil` for none.
  let bindingMessage: String?
  /// The code that the user typed to allow the request; `nil` for none.
  let userCode: String?
  /// The time for the decision, in seconds; `nil` for the default.
  let expiry: Int64?
  /// The bearer token for notifications to the client; `nil` for none.
  let notificationToken: String?
  /// The requirements for the answer by name, unique, in order of preference (OpenID Connect Core section 3.1.2.1).
  ///
  /// They are not compared with the defined requirements yet.
  let acrValues: [String]

  /// Parses the parameters.
  ///
  /// - Throws: ``OpenIDFailure``.
  init(_ form: FormParameters) throws(OpenIDFailure) {
    try Self.checkScope(form["scope"])
    hint = try Self.hint(form)
    bindingMessage = try Self.bindingMessage(form["binding_message"])
    userCode = form["user_code"]
    guard userCode.map({ $0.utf8.count <= 128 }) ?? true else {
      throw OpenIDFailure.wrongUserCode
    }
    acrValues = try Self.acrValues(form["acr_values"])
    expiry = try Self.expiry(form[Self.expiryName])
    notificationToken = try Self.notificationToken(form["client_notification_token"])
  }

  private static func checkScope(_ scope: String?) throws(OpenIDFailure) {
    guard let scope else { throw OpenIDFailure(.invalidRequest, "Send scope, with openid in it.") }
    // The characters of RFC 6749 section 3.3.
    let isScope =
      scope.utf8.count <= 1_024
      && scope.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    guard isScope, scope.split(separator: " ").contains(where: { $0 == OpenIDNames.scope }) else {
      throw OpenIDFailure(
        .invalidScope, "Send scope with openid in it, in visible ASCII, at most 1024 bytes.")
    }
  }

  private static func hint(_ form: FormParameters) throws(OpenIDFailure) -> Hint {
    let hints: [Hint?] = [
      form["login_hint"].map(Hint.user), form["login_hint_token"].map(Hint.token),
      form["id_token_hint"].map(Hint.idToken),
    ]
    let presentHints = hints.compactMap { $0 }
    guard presentHints.count == 1 else {
      throw OpenIDFailure(
        .invalidRequest, "Send exactly one of login_hint, login_hint_token and id_token_hint.")
    }
    return presentHints[0]
  }

  private static func bindingMessage(_ text: String?) throws(OpenIDFailure) -> String? {
    guard let text else { return nil }
    do throws(WireFailure) {
      try DisplayText.checkLine(text, member: "binding_message", limit: 128)
      return text
    } catch {
      throw OpenIDFailure.unclearBindingMessage
    }
  }

  private static func expiry(_ text: String?) throws(OpenIDFailure) -> Int64? {
    guard let text else { return nil }
    guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let seconds = Int64(text), seconds > 0
    else {
      throw OpenIDFailure(
        .invalidRequest, "requested_expiry must be a number of seconds in digits, 1 or more.")
    }
    return min(seconds, longestExpiry)
  }

  private static func acrValues(_ text: String?) throws(OpenIDFailure) -> [String] {
    guard let text else { return [] }
    guard text.utf8.count <= 1_024 else {
      throw OpenIDFailure(.invalidRequest, "acr_values has at most 1024 bytes.")
    }
    var names: [String] = []
    for name in text.split(separator: " ").map(String.init) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  /// Checks the form of a bearer token (RFC 6750 section 2.1) of at most 1,024 characters (CIBA section 7.1).
  private static func notificationToken(_ text: String?) throws(OpenIDFailure) -> String? {
    guard let text else { return nil }
    let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
    guard text.utf8.count <= 1_024, !body.isEmpty, body.allSatisfy(isAllowedInToken) else {
      throw OpenIDFailure(
        .invalidRequest, "client_notification_token is a bearer token of at most 1024 characters.")
    }
    return text
  }

  private static func isAllowedInToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~+/".utf8.contains(byte)
    }
  }
}
