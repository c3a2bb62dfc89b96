import Synchronization

/// A lookup table of character traits for planes 0 to 3.
///
/// A property lookup of the standard library costs a search. A page of 256 characters is computed on first use and kept for
/// the life of the process. The table reveals which pages were used, so it reveals only the script.
package struct CharacterTable: Sendable {
  private static let shared = Mutex(CharacterTable())

  /// The index in `traits` of each page of planes 0 to 3; `nil` if the page was not computed.
  private var offsets = [Int?](repeating: nil, count: 1024)
  private var traits: [CharacterTraits] = []

  private init() {}

  /// A copy of the table with all pages computed so far.
  package static var current: CharacterTable { shared.withLock { $0 } }

  /// Returns the traits of a character and computes its page if needed.
  mutating func traits(_ scalar: Unicode.Scalar) -> CharacterTraits {
    if 0x20...0x7E ~= scalar.value { return CharacterTraits(visibleASCII: scalar) }
    let page = Int(scalar.value >> 8)
    guard page < offsets.count else { return CharacterTraits(scalar) }
    guard let offset = offsets[page] else {
      self = Self.shared.withLock {
        $0.add(page)
        return $0
      }
      return traits(scalar)
    }
    return traits[offset + Int(scalar.value & 0xFF)]
  }

  private mutating func add(_ page: Int) {
    guard offsets[page] == nil else { return }
    offsets[page] = traits.count
    for value in UInt32(page << 8)..<UInt32((page + 1) << 8) {
      // Surrogates do not occur in valid text; U+FFFD fills their entries.
      traits.append(CharacterTraits(Unicode.Scalar(value) ?? "\u{FFFD}"))
    }
  }
}
