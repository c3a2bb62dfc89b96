/// The size limits for a JSON text.
public struct JSONLimits: Sendable, Hashable {
  /// The deepest nesting of arrays and objects, 1 to 256; `[[1]]` has depth 2.
  public let maximumDepth: Int
  /// The longest text, in bytes.
  public let maximumByteCount: Int
  /// The maximum number of object members and array elements, counted over the whole text.
  public let maximumMemberCount: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - maximumDepth: Deepest nesting; values above 256 count as 256, so that parsing never exhausts the stack.
  ///   - maximumByteCount: Longest text, in bytes.
  ///   - maximumMemberCount: Maximum number of members and elements in total.
  public init(maximumDepth: Int = 16, maximumByteCount: Int = 65_536, maximumMemberCount: Int = 8_192) {
    self.maximumDepth = min(maximumDepth, 256)
    self.maximumByteCount = maximumByteCount
    self.maximumMemberCount = maximumMemberCount
  }

  /// Depth 16, 64 KiB, 8192 members: more than the messages between device and server need.
  public static let standard = JSONLimits()
}
