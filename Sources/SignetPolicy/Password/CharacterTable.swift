import Synchronization

/// Looks up characters of the planes that have letters.
///
/// The properties of the standard library cost a search each. A page of 256 characters is computed when the first of them is asked
/// for, and kept as long as the process runs; it says nothing about what was asked but the script.
package struct CharacterTable: Sendable {
  private static let shared = Mutex(CharacterTable())

  /// Where the pages of planes 0 to 3 begin among the traits.
  private var places = [Int?](repeating: nil, count: 1024)
  private var traits: [CharacterTraits] = []

  private init() {}

  /// All pages that were made until now.
  package static var current: CharacterTable { shared.withLock { $0 } }

  /// What a policy asks about a character.
  mutating func traits(_ scalar: Unicode.Scalar) -> CharacterTraits {
    if 0x20...0x7E ~= scalar.value { return CharacterTraits(visibleASCII: scalar) }
    let page = Int(scalar.value >> 8)
    guard page < places.count else { return CharacterTraits(scalar) }
    guard let place = places[page] else {
      self = Self.shared.withLock {
        $0.add(page)
        return $0
      }
      return traits(scalar)
    }
    return traits[place + Int(scalar.value & 0xFF)]
  }

  private mutating func add(_ page: Int) {
    guard places[page] == nil else { return }
    places[page] = traits.count
    for value in UInt32(page << 8)..<UInt32((page + 1) << 8) {
      // Surrogates are in no text; their places are filled with what stands for a broken one.
      traits.append(CharacterTraits(Unicode.Scalar(value) ?? "\u{FFFD}"))
    }
  }
}
