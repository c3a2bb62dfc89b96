import Synchronization

/// A key for HMAC (RFC 2104, FIPS 198-1), hashed once and used for any number of messages.
///
/// The key may have any length. Calls from several threads wait for each other, a fraction of a microsecond a message.
public final class HMACKey: Sendable {
  /// The hash function of the code.
  public let hash: HashFunction
  private let context: Mutex<MACContext>

  /// Prepares `key`; the caller's secret is not needed afterwards.
  public init(_ key: borrowing SecretBytes, _ hash: HashFunction) {
    self.hash = hash
    context = Mutex(key.withUInt8Span { MACContext(key: $0, hash) })
  }

  /// The authentication code of `message`: as many bytes as a digest has.
  public func authenticationCode(for message: [UInt8]) -> [UInt8] {
    context.withLock { context in
      context.begin()
      context.update(message.span)
      return context.finish()
    }
  }

  /// The authentication code of `message`: as many bytes as a digest has.
  public func authenticationCode(for message: RawSpan) -> [UInt8] {
    withUInt8Span(of: message) { message in
      context.withLock { context in
        context.begin()
        context.update(message)
        return context.finish()
      }
    }
  }

  /// The authentication code of `message`, where the code is itself a key.
  public func secretAuthenticationCode(for message: [UInt8]) -> SecretBytes {
    context.withLock { context in
      context.begin()
      context.update(message.span)
      return context.finishSecretly()
    }
  }

  /// Whether `mac` is the whole authentication code of `message`, compared in constant time.
  ///
  /// A shortened code is not valid.
  public func isValid(_ mac: [UInt8], for message: [UInt8]) -> Bool {
    constantTimeEqual(mac, authenticationCode(for: message))
  }
}
