import LibFuzzer
import SignetCrypto
// The keys are not public: apps get theirs from a session.
@testable import SignetVault

@main struct FuzzAppData {
  /// A fixed key, so that an input that opens once always does.
  static let root: [UInt8] = Array(1...32)

  static func main() { LibFuzzer.run(check) }

  static func check(_ input: [UInt8]) {
    open(input)
    roundTrip(input)
  }

  /// Foreign bytes are rejected, or are exactly the output of sealing.
  private static func open(_ input: [UInt8]) {
    do throws(AppDataFailure) {
      let group = AppDataGroupKey(root: SecretBytes(copying: root), group: .standard)
      let key = try group.textKey(label: "fuzz", salt: AppDataFormat.salt(inHeader: input))
      let text = try opened(Array(input.dropFirst(AppDataFormat.headerByteCount)), key, pieces: 1 << 20)
      let again = try sealed(text, key, pieces: 1 << 20)
      require(again == input, "a text has one form")
    } catch {}
  }

  /// Sealed data opens, with pieces of any size, and does not open once a byte is changed or removed.
  private static func roundTrip(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    // Repeated, so that there are several chunks.
    let text = [[UInt8]](repeating: Array(input.dropFirst(2)), count: Int(input[0]) + 1).flatMap { $0 }
    let pieces = Int(input[1]) * 331 + 1
    let group = AppDataGroupKey(root: SecretBytes(copying: root), group: .standard)
    do throws(AppDataFailure) {
      let key = try group.newKey(label: "fuzz")
      let made = try sealed(text, key, pieces: pieces)
      let body = Array(made.dropFirst(AppDataFormat.headerByteCount))
      let back = try opened(body, key, pieces: pieces)
      require(back == text, "what is sealed opens")
      var changed = body
      changed[Int(input[1]) * 7919 % body.count] ^= max(1, input[0])
      require(isRefused(changed, key, pieces), "a changed byte is found")
      require(isRefused(Array(body.dropLast()), key, pieces), "a cut is found")
    } catch { require(false, "sealing and opening do not fail") }
  }

  private static func isRefused(_ body: [UInt8], _ key: AppDataKey, _ pieces: Int) -> Bool {
    do throws(AppDataFailure) {
      _ = try opened(body, key, pieces: pieces)
      return false
    } catch { return error == .damaged }
  }

  private static func sealed(
    _ text: [UInt8], _ key: AppDataKey, pieces: Int
  ) throws(AppDataFailure) -> [UInt8] {
    var sealer = AppDataSealer(key)
    var output: [UInt8] = []
    var rest = text[...]
    while !rest.isEmpty {
      output += try sealer.update(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return try output + sealer.finish()
  }

  private static func opened(
    _ body: [UInt8], _ key: AppDataKey, pieces: Int
  ) throws(AppDataFailure) -> [UInt8] {
    var opener = AppDataOpener(key)
    var output: [UInt8] = []
    var rest = body[...]
    while !rest.isEmpty {
      output += try opener.update(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return try output + opener.finish()
  }
}
