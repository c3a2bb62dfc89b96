import SignetCrypto

/// A text that arrives in parts of any length and is split into numbered chunks, each encrypted or decrypted separately.
struct AppDataChunks: Sendable {
  /// Encrypts or decrypts a chunk; the number is `nil` if all numbers are used or the text is damaged.
  typealias Transform =
    @Sendable (_ chunk: [UInt8], _ number: UInt32?, _ isLast: Bool, AppDataKey) throws(AppDataFailure) ->
    [UInt8]

  let key: AppDataKey
  private let byteCount: Int
  private let transform: Transform
  private var chunk: [UInt8] = []
  private var number: UInt32? = 0

  /// Creates an empty text; each chunk except the last will have `byteCount` bytes.
  init(_ key: AppDataKey, byteCount: Int, _ transform: @escaping Transform) {
    self.key = key
    self.byteCount = byteCount
    self.transform = transform
    chunk.reserveCapacity(byteCount)
  }

  /// Adds bytes; a full chunk is held back until more bytes arrive, because it may be the last.
  mutating func add(_ bytes: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    var output: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if chunk.count == byteCount { output += try next(isLast: false) }
      let part = rest.prefix(byteCount - chunk.count)
      chunk += part
      rest = rest.dropFirst(part.count)
    }
    return output
  }

  mutating func end() throws(AppDataFailure) -> [UInt8] { try next(isLast: true) }

  private mutating func next(isLast: Bool) throws(AppDataFailure) -> [UInt8] {
    do throws(AppDataFailure) {
      let output = try transform(chunk, number, isLast, key)
      chunk.wipe()
      chunk.removeAll(keepingCapacity: true)
      number = number.flatMap { $0 == .max ? nil : $0 + 1 }
      return output
    } catch {
      if error == .damaged { number = nil }
      throw error
    }
  }
}
