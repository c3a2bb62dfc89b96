import Synchronization

/// An HMAC key (RFC 2104, FIPS 198-1), hashed once for any number of messages.
///
/// The key may have any length. A lock serializes calls from several threads, for a fraction of a microsecond per message.
public final class HMACKey: Sendable {
  /// The hash function of the HMAC.
  public let hash: HashFunction
  private let context: Mutex<MACContext>

  /// Prepares a key, which the caller may wipe afterwards.
  public init(_ key: borrowing SecretBytes, _ hash: HashFunction) {
    self.hash = hash
    context = Mutex(key.withUInt8Span { MACContext(key: $0, hash) })
  }

  /// Returns the MAC of an array, as long as a digest.
  public func authenticationCode(for message: [UInt8]) -> [UInt8] {
    context.withLock { context in
      context.begin()
      context.update(message.span)
      return context.finish()
    }
  }

  /// Returns the MAC of a span, as long as a digest.
  public func authenticationCode(for message: RawSpan) -> [UInt8] {
    withUInt8Span(of: message) { message in
      context.withLock { context in
        context.begin()
        context.update(message)
        return context.finish()
      }
    }
  }

  /// Passes the MAC of a span to `body`, as long as a digest; it is not copied to the heap, and is wiped afterwards.
  public func withAuthenticationCode(for message: RawSpan, _ body: (Span<UInt8>) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: hash.byteCount) { buffer in
      defer { unsafe wipe(UnsafeMutableRawBufferPointer(buffer)) }
      withUInt8Span(of: message) { message in
        context.withLock { context in
          context.begin()
          context.update(message)
          unsafe context.finish(into: UnsafeMutableRawBufferPointer(buffer))
        }
      }
      body(unsafe Span(_unsafeElements: UnsafeBufferPointer(buffer)))
    }
  }

  /// Returns the MAC of a message as a secret, for a MAC that is a key.
  public func secretAuthenticationCode(for message: [UInt8]) -> SecretBytes {
    context.withLock { context in
      context.begin()
      context.update(message.span)
      return context.finishSecretly()
    }
  }

  /// Verifies in constant time that `mac` is the MAC of `message`; a truncated MAC is invalid.
  public func isValid(_ mac: [UInt8], for message: [UInt8]) -> Bool {
    unsafe isValid(mac, for: message.span.bytes)
  }

  /// Verifies in constant time that `mac` is the MAC of a span; a truncated MAC is invalid.
  public func isValid(_ mac: [UInt8], for message: RawSpan) -> Bool {
    var isValid = false
    withAuthenticationCode(for: message) { isValid = ConstantTime.areEqual(mac.span, $0) }
    return isValid
  }
}
