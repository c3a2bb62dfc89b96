import SignetCrypto

/// A text that is being put into Unicode Normalization Form C (Unicode Standard, section 3.11), in memory that can be wiped.
///
/// The data is the standard library's; its own function is not used, since it makes strings, which cannot be wiped and cost more
/// than all else that a policy does.
package struct FormC {
  private var elements: [CanonicalForms.Element] = []
  /// Where the part begins that later characters may change.
  private var open = 0
  /// Whether that part is one character that has not been taken into its parts.
  private var isWhole = false

  /// Makes room, so that the characters never move and leave a copy.
  ///
  /// - Parameter byteCount: The UTF-8 bytes of the text; no character has more parts than twice its bytes.
  init(byteCount: Int) { elements.reserveCapacity(2 * byteCount) }

  /// Takes the next character.
  mutating func append(_ scalar: Unicode.Scalar, _ traits: CharacterTraits) {
    if traits.begins {
      close()
      // Most have no marks of their own, and stay whole.
      if traits.stays {
        isWhole = traits.hasParts
        elements.append(CanonicalForms.Element(scalar, combiningClass: traits.combiningClass))
        return
      }
    } else if isWhole {
      isWhole = false
      insert(partsOf: elements.removeLast().scalar)
    }
    if traits.hasParts {
      insert(partsOf: scalar)
    } else {
      insert(CanonicalForms.Element(scalar, combiningClass: traits.combiningClass))
    }
  }

  /// Ends the text.
  mutating func finish() { close() }

  /// The characters of the finished text.
  package var scalars: some Sequence<Unicode.Scalar> { elements.lazy.map(\.scalar) }

  /// Overwrites the text.
  package mutating func wipe() { wipe(from: 0) }

  private mutating func wipe(from start: Int) {
    elements.withUnsafeMutableBytes { bytes in
      let first = start * MemoryLayout<CanonicalForms.Element>.stride
      SignetCrypto.wipe(UnsafeMutableRawBufferPointer(rebasing: bytes[min(first, bytes.count)...]))
    }
  }

  private mutating func insert(partsOf scalar: Unicode.Scalar) {
    for part in CanonicalForms.all.parts(of: scalar) ?? [] { insert(part) }
  }

  /// Puts marks into canonical order (D109).
  private mutating func insert(_ element: CanonicalForms.Element) {
    var place = elements.count
    if element.combiningClass != 0 {
      while place > open, elements[place - 1].combiningClass > element.combiningClass { place -= 1 }
    }
    elements.insert(element, at: place)
  }

  /// Joins what belongs together in the open part (D117), which no later character changes any more.
  private mutating func close() {
    defer {
      open = elements.count
      isWhole = false
    }
    guard elements.count > open + 1 else { return }
    var starter: Int?
    var end = open
    for index in open..<elements.count {
      let element = elements[index]
      // Between a starter and what follows only marks are left, the last of which has the highest class.
      if let starter, end == starter + 1 || elements[end - 1].combiningClass < element.combiningClass,
        let composite = CanonicalForms.all.composite(of: elements[starter].scalar, element.scalar)
      {
        elements[starter].scalar = composite
      } else {
        if element.combiningClass == 0 { starter = end }
        elements[end] = element
        end += 1
      }
    }
    wipe(from: end)
    elements.removeLast(elements.count - end)
  }
}
