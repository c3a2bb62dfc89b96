import SignetHTTPClient
import SignetUAF
import SignetVault
import Synchronization

/// Fetches trusted facet lists (FIDO AppID and Facets section 3.1.2) and caches them for as long as their servers allow.
///
/// A request carries only its URL and the `Accept` header, so it does not identify the user or the app. A redirect is
/// followed only if the server sends `FIDO-AppID-Redirect-Authorized: true`.
final class FacetLists: Sendable {
  private let transport: any HTTPTransport
  private let clock: any TrustedClock
  private let cache = Mutex<[String: Entry]>([:])

  private struct Entry {
    let list: TrustedFacetList
    /// The expiry, in milliseconds since the machine was started.
    let end: Int64
  }

  private static let maximumRedirectCount = 5
  private static let maximumEntryCount = 32
  /// The longest time a list is cached, in seconds, so that a revised list has an effect after at most one day.
  private static let longestLifetime: Int64 = 86_400

  init(_ transport: any HTTPTransport, clock: any TrustedClock) {
    self.transport = transport
    self.clock = clock
  }

  /// Returns the trusted facet list at a URL.
  ///
  /// - Throws: ``Refusal``; the operation then ends with `UNTRUSTED_FACET_ID`.
  func list(at url: String) async throws(Refusal) -> TrustedFacetList {
    let now = clock.now.boot.millisecondsSinceBoot
    if let cached = cache.withLock({ $0[url] }), now < cached.end { return cached.list }
    let response = try await fetch(url)
    let list: TrustedFacetList
    do throws(MessageFailure) { list = try TrustedFacetList(parsing: response.body) } catch {
      throw .noList(error.description)
    }
    let lifetime = Self.lifetime(response)
    cache.withLock { cache in
      cache[url] = nil
      guard lifetime > 0 else { return }
      if cache.count >= Self.maximumEntryCount { cache.removeAll() }
      cache[url] = Entry(list: list, end: now + lifetime * 1000)
    }
    return list
  }

  /// A reason why the list cannot be used.
  enum Refusal: Error, CustomStringConvertible {
    case transport(TransportFailure)
    case status(Int)
    case contentType
    case redirect
    case noList(String)

    var description: String {
      switch self {
      case .transport(let failure): failure.description
      case .status(let status): "the server answers with status \(status)"
      case .contentType: "the content type is not \(TrustedFacetList.mediaType)"
      case .redirect: "a redirect is not authorized, has no target, or exceeds the limit"
      case .noList(let detail): detail
      }
    }
  }

  private func fetch(_ url: String) async throws(Refusal) -> HTTPResponse {
    var url = url
    for _ in 0...Self.maximumRedirectCount {
      var request = HTTPRequest(url: url, headers: [("Accept", TrustedFacetList.mediaType)])
      request.acceptsRedirect = true
      let response: HTTPResponse
      do throws(TransportFailure) { response = try await transport.send(request) } catch {
        throw .transport(error)
      }
      switch response.status {
      case 200:
        guard Self.isList(response.header("Content-Type")) else { throw .contentType }
        return response
      case 300...399:
        guard response.header("FIDO-AppID-Redirect-Authorized") == "true",
          let location = response.header("Location"), WebOrigin(location) != nil
        else { throw .redirect }
        url = location
      default: throw .status(response.status)
      }
    }
    throw .redirect
  }

  private static func isList(_ contentType: String?) -> Bool {
    guard let contentType else { return false }
    let type = contentType.prefix { $0 != ";" }
    return String(type).trimmingBlanks.lowercased() == TrustedFacetList.mediaType
  }

  /// The seconds that a response may be cached, from `Cache-Control` and `Age`; 0 without a usable `max-age`.
  private static func lifetime(_ response: HTTPResponse) -> Int64 {
    let directives = response.headers.filter { $0.0.lowercased() == "cache-control" }
      .flatMap { $0.1.lowercased().split(separator: ",") }.map { String($0).trimmingBlanks }
    guard !directives.contains(where: { $0 == "no-store" || $0.hasPrefix("no-cache") }) else { return 0 }
    let ages = directives.filter { $0.hasPrefix("max-age=") }
    guard ages.count == 1, let age = Int64(ages[0].dropFirst("max-age=".count)), age > 0 else { return 0 }
    let ageHeader = response.header("Age").flatMap { Int64($0) } ?? 0
    return min(age - max(0, ageHeader), longestLifetime)
  }
}

extension String {
  /// The text without spaces and tabs at both ends.
  fileprivate var trimmingBlanks: String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var rest = self[...].drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
    return String(rest)
  }
}
