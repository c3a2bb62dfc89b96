import Foundation
import Synchronization

/// All that a policy asks about one character, computed once and kept in eight bytes.
struct CharacterTraits: Sendable {
  private let bits: UInt64

  /// Computes everything from the properties that the standard library has of the character.
  init(_ scalar: Unicode.Scalar) {
    let isSpace = scalar.properties.generalCategory == .spaceSeparator
    let isLetter = CharacterClass.letter.contains(scalar)
    var bits = UInt64(isLetter ? Self.lowerCase(scalar) : scalar.value)
    if OpaqueString.allows(scalar) || isSpace { bits |= Flag.allowed }
    if isLetter { bits |= Flag.letter }
    if CharacterClass.uppercase.contains(scalar) { bits |= Flag.uppercase }
    if CharacterClass.lowercase.contains(scalar) { bits |= Flag.lowercase }
    if CharacterClass.digit.contains(scalar) { bits |= Flag.digit }
    if isSpace { bits |= Flag.space }
    if OpaqueString.begins(scalar), Self.isInFormC(scalar) { bits |= Flag.plain }
    self.bits = bits
  }

  /// Whether keys may be derived from a text with it, after spaces have become U+0020.
  var isAllowed: Bool { bits & Flag.allowed != 0 }
  /// Whether it counts as ``CharacterClass/letter``.
  var isLetter: Bool { bits & Flag.letter != 0 }
  /// Whether it counts as ``CharacterClass/uppercase``.
  var isUppercase: Bool { bits & Flag.uppercase != 0 }
  /// Whether it counts as ``CharacterClass/lowercase``.
  var isLowercase: Bool { bits & Flag.lowercase != 0 }
  /// Whether it counts as ``CharacterClass/digit``.
  var isDigit: Bool { bits & Flag.digit != 0 }
  /// Whether it becomes U+0020.
  var isSpace: Bool { bits & Flag.space != 0 }
  /// Whether normalization changes neither it nor what is before it: a text of such characters is in Form C.
  var isPlain: Bool { bits & Flag.plain != 0 }
  /// The lower-case form of a letter where that is one code point, else the character itself.
  var folded: UInt32 { UInt32(truncatingIfNeeded: bits) }

  private enum Flag {
    static let allowed: UInt64 = 1 << 32
    static let letter: UInt64 = 1 << 33
    static let uppercase: UInt64 = 1 << 34
    static let lowercase: UInt64 = 1 << 35
    static let digit: UInt64 = 1 << 36
    static let space: UInt64 = 1 << 37
    static let plain: UInt64 = 1 << 38
  }

  /// The lower-case form where that is one code point, so that `aBc` is a sequence.
  private static func lowerCase(_ scalar: Unicode.Scalar) -> UInt32 {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    guard let first = lower.first, lower.count == 1 else { return scalar.value }
    return first.value
  }

  private static func isInFormC(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x300
      || String(scalar).precomposedStringWithCanonicalMapping.unicodeScalars.elementsEqual(
        CollectionOfOne(scalar))
  }
}

/// Looks up characters of the planes that have letters, page by page.
///
/// The properties of the standard library cost a search each. A page of 256 characters is computed when the first of them is asked
/// for, and kept as long as the process runs; it says nothing about what was asked but the script.
struct CharacterTable {
  private final class Page: Sendable {
    let traits: [CharacterTraits]
    init(_ number: Int) {
      // Surrogates are in no text; their places are filled with what stands for a broken one.
      traits = (0..<256).map { CharacterTraits(Unicode.Scalar(UInt32(number << 8 | $0)) ?? "\u{FFFD}") }
    }
  }

  private final class Slot: Sendable { let page = AtomicLazyReference<Page>() }

  /// Planes 0 to 3.
  private static let slots = (0..<1024).map { _ in Slot() }

  private var page: Page?
  private var number = -1

  /// The traits of a character; `nil` for one of another plane.
  mutating func traits(_ scalar: Unicode.Scalar) -> CharacterTraits? {
    let wanted = Int(scalar.value >> 8)
    guard wanted < Self.slots.count else { return nil }
    if wanted != number || page == nil {
      let slot = Self.slots[wanted]
      page = slot.page.load() ?? slot.page.storeIfNil(Page(wanted))
      number = wanted
    }
    return page?.traits[Int(scalar.value & 0xFF)]
  }
}
