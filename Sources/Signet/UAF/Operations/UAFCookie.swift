import SignetTransport

/// A cookie that a server has set, with what decides where it is sent (RFC 6265).
public struct UAFCookie: Hashable, Sendable {
  /// The URL that it came from.
  public let url: String
  /// Its name.
  public let name: String
  /// Its value.
  public let value: String
  /// The host that it is sent to, in lower case.
  public let host: String
  /// Whether hosts below ``host`` get it too.
  public let includesSubdomains: Bool
  /// The path under which it is sent.
  public let path: String

  /// Reads what a server has set; `nil` for what is no cookie, was cleared, or is for another host (RFC 6265 section 5.3).
  ///
  /// - Parameters:
  ///   - text: The value of `Set-Cookie`.
  ///   - url: The URL that was asked.
  public init?(setCookie text: String, from url: String) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "="), let place = UAFPlace(url) else {
      return nil
    }
    let value = String(pair[pair.index(after: equals)...])
    let name = String(Self.trimmed(pair[..<equals]))
    guard RequestCookie(name: name, value: value) != nil, !value.isEmpty else { return nil }
    var (host, path, isWide) = (place.host, place.directory, false)
    for part in parts.dropFirst() {
      let mark = part.firstIndex(of: "=") ?? part.endIndex
      let attribute = Self.trimmed(part[..<mark]).lowercased()
      let setting = Self.trimmed(part[mark...].dropFirst())
      switch attribute {
      case "domain":
        let wanted = setting.drop { $0 == "." }.lowercased()
        // A domain without a dot would be a whole country's, or the machine itself.
        guard wanted == place.host || (wanted.contains(".") && place.host.hasSuffix(".\(wanted)")) else {
          return nil
        }
        (host, isWide) = (wanted, wanted != place.host || setting != "")
      case "path" where setting.hasPrefix("/"): path = String(setting)
      case "max-age" where Int(setting).map { $0 <= 0 } ?? false: return nil
      default: break
      }
    }
    (self.url, self.name, self.value) = (url, name, value)
    (self.host, self.path, includesSubdomains) = (host, path, isWide)
  }

  /// Whether the cookie is for this URL (RFC 6265 section 5.4).
  package func isSent(to url: String) -> Bool {
    guard let place = UAFPlace(url) else { return false }
    guard place.host == host || (includesSubdomains && place.host.hasSuffix(".\(host)")) else { return false }
    return place.path == path
      || (place.path.hasPrefix(path)
        && (path.hasSuffix("/")
          || place.path.dropFirst(path.count).hasPrefix("/")))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}

/// The parts of an https URL that decide who is asked.
struct UAFPlace: Hashable, Sendable {
  /// Scheme, host and port, as they were written.
  let origin: String
  /// The host in lower case.
  let host: String
  /// The path, at least `/`.
  let path: String

  /// `nil` for what is no https URL with a host and without user and fragment.
  init?(_ url: String) {
    guard url.prefix(8).lowercased() == "https://", !url.contains("#"),
      url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    let rest = url.dropFirst(8)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return nil }
    var host = authority
    if authority.first == "[" {
      guard let bracket = authority.firstIndex(of: "]") else { return nil }
      host = authority[...bracket]
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
    }
    guard !host.isEmpty else { return nil }
    (origin, self.host) = ("https://\(authority)", host.lowercased())
    let path = rest[end...].prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
  }

  /// The path up to its last slash, which a cookie without a path has (RFC 6265 section 5.1.4).
  var directory: String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
