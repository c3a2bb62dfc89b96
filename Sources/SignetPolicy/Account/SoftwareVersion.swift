/// The version of an app or of an operating system: numbers with points between them, such as `6.1.0`.
///
/// Numbers that are left out count as 0. What follows a `-` makes it a version before the one without (Semantic Versioning 2.0.0
/// section 9), and is not compared further; what follows a `+` counts for nothing (section 10).
public struct SoftwareVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The numbers, without zeros at the end.
  private let numbers: [UInt32]
  private let isPrerelease: Bool
  /// As it was written.
  public let description: String

  /// Reads a version.
  ///
  /// - Parameter text: At most 64 characters: 1 to 8 numbers of 1 to 9 digits, and what may follow them. `nil` is returned for
  ///   anything else.
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

  /// Whether both are the same version, however they are written.
  public static func == (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
    left.numbers == right.numbers && left.isPrerelease == right.isPrerelease
  }

  /// Feeds what equality looks at.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(numbers)
    hasher.combine(isPrerelease)
  }

  /// Whether the left one came before the right one.
  public static func < (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
    if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
    return left.isPrerelease && !right.isPrerelease
  }
}
