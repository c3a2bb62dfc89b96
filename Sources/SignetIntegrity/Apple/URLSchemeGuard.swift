/// Apps that only jailbreaks bring, by the URLs that they answer.
///
/// Only the app's main thread may ask the system, so that the app brings the question: `UIApplication.shared.canOpenURL`, asked
/// beforehand for ``schemes``, which its `LSApplicationQueriesSchemes` must name.
public struct URLSchemeGuard: Guard {
  /// `schemes`.
  public let name = "schemes"
  /// The schemes that are asked for.
  public static let schemes = ["cydia", "sileo", "zbra", "filza", "undecimus"]
  private let canOpen: @Sendable (String) -> Bool

  /// A guard that asks the app.
  public init(canOpen: @escaping @Sendable (String) -> Bool) { self.canOpen = canOpen }

  /// Asks for each scheme.
  public func examine() -> [Evidence] {
    Self.schemes.filter(canOpen).map { Evidence(.jailbreakScheme, "an app answers \($0): addresses") }
  }
}
