import SignetCrypto
import SignetJSON

/// The constants of the protocol between apps and the agent; `docs/agent-protocol.md` specifies it.
package enum AgentProtocol {
  static let version: UInt8 = 2
  static let magic: [UInt8] = Array("SGNA".utf8)
  static let nonceByteCount = 16
  /// The size of the app's challenge, random bytes that the agent repeats.
  package static let challengeByteCount = 16
  /// The size of the agent's greeting: magic, version, welcome, nonce.
  package static let greetingByteCount = magic.count + 2 + nonceByteCount
  /// The size of the lengths before each message: 4 bytes for the JSON, 2 for the secret.
  package static let lengthsByteCount = 6
  static let maximumJSONByteCount = 4096
  static let maximumSecretByteCount = 4096
  static let limits = JSONLimits(
    maximumDepth: 1, maximumByteCount: maximumJSONByteCount, maximumMemberCount: 8)

  package enum Welcome: UInt8, CaseIterable {
    case yes = 0
    case refused = 1
    case busy = 2
  }

  package static func greeting(_ welcome: Welcome, nonce: [UInt8]) -> [UInt8] {
    magic + [version, welcome.rawValue] + nonce
  }

  /// Parses a greeting of this version; `nil` if it is invalid.
  package static func parse(greeting: [UInt8]) -> (welcome: Welcome, nonce: [UInt8])? {
    guard greeting.count == greetingByteCount, greeting.starts(with: magic + [version]),
      let welcome = Welcome(rawValue: greeting[magic.count + 1])
    else { return nil }
    return (welcome, Array(greeting.suffix(nonceByteCount)))
  }

  /// The sizes of the JSON and the secret that follow.
  package struct Lengths: Hashable {
    package let json: Int
    let secret: Int

    package init(json: Int, secret: Int) { (self.json, self.secret) = (json, secret) }

    /// Parses lengths; `nil` if they exceed the limits.
    package init?(parsing bytes: [UInt8]) {
      guard bytes.count == lengthsByteCount else { return nil }
      json = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
      secret = bytes[4...].reduce(0) { $0 << 8 | Int($1) }
      guard (1...maximumJSONByteCount).contains(json), secret <= maximumSecretByteCount else { return nil }
    }

    package var bytes: [UInt8] {
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: json >> $0) }
        + [UInt8(truncatingIfNeeded: secret >> 8), UInt8(truncatingIfNeeded: secret)]
    }
  }
}

/// A message that violates the protocol.
package struct MalformedMessage: Error, Hashable {}

extension JSONObject {
  /// Parses a message within the protocol's limits.
  init(message bytes: [UInt8]) throws(MalformedMessage) {
    do { try self.init(parsing: bytes, limits: AgentProtocol.limits) } catch { throw MalformedMessage() }
  }

  func text(_ name: String) throws(MalformedMessage) -> String {
    do { return try string(name) } catch { throw MalformedMessage() }
  }

  func number(atMost limit: Int64, _ name: String) throws(MalformedMessage) -> Int64 {
    do {
      let value = try integer(name)
      guard (0...limit).contains(value) else { throw MalformedMessage() }
      return value
    } catch { throw MalformedMessage() }
  }

  func bytes(_ name: String, count: Int) throws(MalformedMessage) -> [UInt8] {
    let text = try text(name)
    do {
      let bytes = try Base64URL.decode(text)
      guard bytes.count == count else { throw MalformedMessage() }
      return bytes
    } catch { throw MalformedMessage() }
  }

  /// Rejects other members than those named.
  func only(_ names: String...) throws(MalformedMessage) {
    guard members.allSatisfy({ names.contains($0.name) }) else { throw MalformedMessage() }
  }
}
