/// The version of an app or an operating system: numbers separated by points, such as `6.1.0`.
///
/// Missing numbers count as 0. A `-` starts a pre-release suffix: the version precedes the one without it (Semantic
/// Versioning 2.0.0 section 9), and suffixes are not compared. A `+` starts build metadata, which is ignored (section 10).
public struct SoftwareVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The numbers, without trailing zeros.
  private let numbers: [UInt32]
  private let isPrerelease: Bool
  /// The text as it was written.
  public let description: String

  /// Reads a version; returns `nil` for any other text.
  ///
  /// - Parameter text: At most 64 visible ASCII characters: 1 to 8 numbers of 1 to 9 digits, then optional suffixes.
  public init?(_ text: String) {
    guard text.utf8.count <= 64, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
    let withoutBuild = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)[0]
    let parts = withoutBuild.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    let fields = first.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...8).contains(fields.count) else { return nil }
    var numbers: [UInt32] = []
    for field in fields {
      guard (1...9).contains(field.utf8.count), field.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
        let number = UInt32(field)
      else { return nil }
      numbers.append(number)
    }
    while numbers.last == 0 { numbers.removeLast() }
    (self.numbers, isPrerelease, description) = (numbers, parts.count == 2, text)
  }

  /// True if both are the same version; the spelling may differ.
  public static func == (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
    left.numbers == right.numbers && left.isPrerelease == right.isPrerelease
  }

  /// Hashes the members that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(numbers)
    hasher.combine(isPrerelease)
  }

  /// True if the left version precedes the right one.
  public static func < (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
    if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
    return left.isPrerelease && !right.isPrerelease
  }
}
