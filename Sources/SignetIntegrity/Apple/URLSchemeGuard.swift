/// A guard for apps that only jailbreaks install, found by their URL schemes.
///
/// Only the app's main thread may ask the system, so the app supplies the answers: it calls
/// `UIApplication.shared.canOpenURL` in advance for ``schemes``, which its `LSApplicationQueriesSchemes` must list.
public struct URLSchemeGuard: Guard {
  /// The value `schemes`.
  public let name = "schemes"
  /// The schemes to ask for.
  public static let schemes = ["cydia", "sileo", "zbra", "filza", "undecimus"]
  private let canOpen: @Sendable (String) -> Bool

  /// Creates a guard that asks the app.
  public init(canOpen: @escaping @Sendable (String) -> Bool) { self.canOpen = canOpen }

  /// Checks each scheme.
  public func examine() -> [Evidence] {
    Self.schemes.filter(canOpen).map { Evidence(.jailbreakScheme, "an app opens \($0): URLs") }
  }
}
