/// How large a JSON text may be before it is refused.
public struct JSONLimits: Sendable, Hashable {
  /// The deepest nesting of arrays and objects, 1 to 256; `[[1]]` has depth 2.
  public let maximumDepth: Int
  /// The longest text, in bytes.
  public let maximumByteCount: Int
  /// The most object members and array elements, counted over the whole text.
  public let maximumMemberCount: Int

  /// Sets limits.
  ///
  /// - Parameters:
  ///   - maximumDepth: Deepest nesting; taken as 256 when larger, so that reading never exhausts the stack.
  ///   - maximumByteCount: Longest text, in bytes.
  ///   - maximumMemberCount: Most members and elements in all.
  public init(maximumDepth: Int = 16, maximumByteCount: Int = 65_536, maximumMemberCount: Int = 8_192) {
    self.maximumDepth = min(maximumDepth, 256)
    self.maximumByteCount = maximumByteCount
    self.maximumMemberCount = maximumMemberCount
  }

  /// Depth 16, 64 KiB, 8192 members: what the messages between device and server need, with room.
  public static let standard = JSONLimits()
}
