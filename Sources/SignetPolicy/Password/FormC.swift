import SignetCrypto

/// A text under conversion to Unicode Normalization Form C (Unicode Standard, section 3.11), in memory that can be wiped.
///
/// It uses the standard library's data, but not its function: that makes strings, which cannot be wiped and cost more than
/// all other work of a policy.
package struct FormC {
  private var elements: [CanonicalForms.Element] = []
  /// The start of the part that later characters may still change.
  private var open = 0
  /// True if that part is one character that has not been decomposed.
  private var isWhole = false

  /// Reserves the capacity, so that the array never moves and leaves a copy.
  ///
  /// - Parameter byteCount: The UTF-8 bytes of the text; a character has at most twice as many parts as bytes.
  init(byteCount: Int) { elements.reserveCapacity(2 * byteCount) }

  mutating func append(_ scalar: Unicode.Scalar, _ traits: CharacterTraits) {
    if traits.begins {
      close()
      // Most characters are followed by no mark and need no decomposition.
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

  /// Normalizes the last part.
  mutating func finish() { close() }

  package var scalars: some Sequence<Unicode.Scalar> { elements.lazy.map(\.scalar) }

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

  /// Inserts a character; marks go to their canonical position (D109).
  private mutating func insert(_ element: CanonicalForms.Element) {
    var index = elements.count
    if element.combiningClass != 0 {
      while index > open, elements[index - 1].combiningClass > element.combiningClass { index -= 1 }
    }
    elements.insert(element, at: index)
  }

  /// Composes the open part (D117); later characters no longer change it.
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
      // Only marks remain between a starter and the next element, and the last of them has the highest class.
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
