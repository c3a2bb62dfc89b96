import SignetHTTPClient
import SignetUAF

/// A cookie that a server has set, with the scope in which it is sent (RFC 6265).
public struct UAFCookie: Hashable, Sendable {
  /// The URL that set the cookie.
  public let url: String
  /// The name.
  public let name: String
  /// The value.
  public let value: String
  /// The host that receives it, in lower case.
  public let host: String
  /// Indicates whether subdomains of ``host`` receive it too.
  public let includesSubdomains: Bool
  /// The path prefix of the URLs that receive it.
  public let path: String

  /// Parses a `Set-Cookie` header; `nil` for an invalid or cleared cookie, or one for another host (RFC 6265 section 5.3).
  ///
  /// - Parameters:
  ///   - text: The value of `Set-Cookie`.
  ///   - url: The URL of the request.
  public init?(setCookie text: String, from url: String) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "="), let parsedURL = HTTPSURL(url) else {
      return nil
    }
    let value = String(pair[pair.index(after: equals)...])
    let name = String(Self.trimmed(pair[..<equals]))
    guard RequestCookie(name: name, value: value) != nil, !value.isEmpty else { return nil }
    var (host, path, isWide) = (parsedURL.host, parsedURL.directory, false)
    for part in parts.dropFirst() {
      let separator = part.firstIndex(of: "=") ?? part.endIndex
      let attribute = Self.trimmed(part[..<separator]).lowercased()
      let setting = Self.trimmed(part[separator...].dropFirst())
      switch attribute {
      case "domain":
        let domain = setting.drop { $0 == "." }.lowercased()
        let isRegistrable = PublicSuffixList.system.registrableDomain(of: domain) != nil
        guard domain == parsedURL.host || (isRegistrable && parsedURL.host.hasSuffix(".\(domain)")) else {
          return nil
        }
        (host, isWide) = (domain, isRegistrable)
      case "path" where setting.hasPrefix("/"): path = String(setting)
      case "max-age" where Int(setting).map { $0 <= 0 } ?? false: return nil
      default: break
      }
    }
    self.url = url
    self.name = name
    self.value = value
    self.host = host
    self.path = path
    includesSubdomains = isWide
  }

  /// Indicates whether the cookie is sent to a URL (RFC 6265 section 5.4).
  package func isSent(to url: String) -> Bool {
    guard let parsedURL = HTTPSURL(url) else { return false }
    guard parsedURL.host == host || (includesSubdomains && parsedURL.host.hasSuffix(".\(host)")) else {
      return false
    }
    return parsedURL.path == path
      || (parsedURL.path.hasPrefix(path)
        && (path.hasSuffix("/")
          || parsedURL.path.dropFirst(path.count).hasPrefix("/")))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
