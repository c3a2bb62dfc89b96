/// A hash of a message that arrives in parts.
public struct IncrementalHash: ~Copyable, Sendable {
  private var context: DigestContext

  /// Starts a hash.
  public init(_ function: HashFunction) {
    context = DigestContext(function)
  }

  /// Adds the next part of the message.
  public mutating func update(_ bytes: [UInt8]) {
    context.update(bytes.span)
  }

  /// Adds the next part of the message.
  public mutating func update(_ bytes: RawSpan) {
    withUInt8Span(of: bytes) { context.update($0) }
  }

  /// Ends the message and returns its digest.
  public consuming func finish() -> [UInt8] {
    context.finish()
  }
}
