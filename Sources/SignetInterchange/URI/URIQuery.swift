import SignetSystem

/// A parsed URI of an authenticator with its escapes decoded: `scheme://type/label?name=value&…`.
///
/// A number sign does not begin a fragment: authenticators write colors with one.
struct URIQuery {
  /// The scheme in lower case.
  let scheme: String
  /// The type in lower case.
  let host: String
  /// The label, still escaped.
  let label: Substring
  /// The parameters in order.
  let parameters: [(name: String, value: String)]

  init(_ text: String) throws(InterchangeFailure) {
    let text = text.trimmed
    guard text.utf8.count <= AuthenticatorURI.maximumByteCount else {
      throw .tooLarge("URI", limit: AuthenticatorURI.maximumByteCount)
    }
    guard let delimiter = text.firstRange(of: "://"), delimiter.lowerBound != text.startIndex else {
      throw .notURI
    }
    scheme = InterchangeText.lowercased(text[..<delimiter.lowerBound])
    guard scheme.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D }) else {
      throw .notURI
    }
    let rest = text[delimiter.upperBound...]
    let hostEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    host = InterchangeText.lowercased(rest[..<hostEnd])
    let pathEnd = rest[hostEnd...].firstIndex(of: "?") ?? rest.endIndex
    label = rest[hostEnd..<pathEnd].drop { $0 == "/" }
    let query = pathEnd < rest.endIndex ? rest[rest.index(after: pathEnd)...] : ""
    let parts = query.split(separator: "&")
    guard parts.count <= AuthenticatorURI.maximumParameterCount else {
      throw .tooLarge("number of parameters", limit: AuthenticatorURI.maximumParameterCount)
    }
    var parameters: [(name: String, value: String)] = []
    for part in parts {
      let end = part.firstIndex(of: "=") ?? part.endIndex
      let name = try PercentEncoding.decode(part[..<end])
      let value = end < part.endIndex ? try PercentEncoding.decode(part[part.index(after: end)...]) : ""
      try InterchangeText.check(name, "name of a parameter", limit: 64)
      try InterchangeText.check(value, name, limit: AuthenticatorURI.maximumParameterByteCount)
      parameters.append((name, value))
    }
    self.parameters = parameters
  }

  /// Returns the value of a parameter with a case-insensitive name; an empty value counts as absent.
  ///
  /// - Throws: ``InterchangeFailure/repeated(_:)`` if the parameter has two different values.
  func value(_ name: String) throws(InterchangeFailure) -> String? {
    var result: String?
    for parameter in parameters where InterchangeText.lowercased(parameter.name) == name {
      guard !parameter.value.isEmpty else { continue }
      if let result, !result.hasSameBytes(as: parameter.value) { throw .repeated(name) }
      result = parameter.value
    }
    return result
  }

  /// Returns the parameters with other names.
  func others(than names: Set<String>) -> [(name: String, value: String)] {
    parameters.filter { !names.contains(InterchangeText.lowercased($0.name)) }
  }
}

/// The issuer and account of a label.
struct URILabel {
  var issuer: String
  var account: String

  /// Splits at the first colon, escaped or not; an account may contain further colons.
  init(_ label: Substring) throws(InterchangeFailure) {
    if let colon = label.firstIndex(of: ":") {
      issuer = try PercentEncoding.decode(label[..<colon])
      account = try PercentEncoding.decode(label[label.index(after: colon)...])
    } else {
      let decoded = try PercentEncoding.decode(label)
      if let colon = decoded.firstIndex(of: ":") {
        (issuer, account) = (String(decoded[..<colon]), String(decoded[decoded.index(after: colon)...]))
      } else {
        (issuer, account) = ("", decoded)
      }
    }
    (issuer, account) = (issuer.trimmed, account.trimmed)
    try InterchangeText.check(issuer, "issuer")
    try InterchangeText.check(account, "account")
  }

  init(issuer: String, account: String) { (self.issuer, self.account) = (issuer, account) }

  /// The escaped label: an escaped colon within a part is never read as the separator.
  var text: String {
    let account = PercentEncoding.encode(account)
    if issuer.isEmpty { return self.account.contains(":") ? ":\(account)" : account }
    return "\(PercentEncoding.encode(issuer)):\(account)"
  }
}

struct URIWriter {
  private(set) var text: String
  private var isFirst = true

  init(scheme: String, host: String, label: URILabel) { text = "\(scheme)://\(host)/\(label.text)" }

  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    text += "\(isFirst ? "?" : "&")\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
    isFirst = false
  }
}
