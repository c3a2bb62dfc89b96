/// What a policy needs to know about a password, and nothing else of it.
struct PasswordTally {
  var length = 0
  var uppercase = 0
  var lowercase = 0
  var letters = 0
  var digits = 0
  var hasSequence = false
  var longestRepeat = 0
  var isAllowed = true

  private var run = Run()

  func count(of kind: CharacterClass) -> Int {
    switch kind {
    case .uppercase: uppercase
    case .lowercase: lowercase
    case .letter: letters
    case .digit: digits
    case .nonAlphanumeric: length - letters - digits
    }
  }

  /// Counts visible ASCII, which is its own prepared form, in one pass over the bytes.
  ///
  /// Most passwords are of this kind, and a policy is asked at each key that is pressed.
  ///
  /// - Parameter bytes: The password; `nil` is returned at the first byte that is not visible ASCII.
  init?(ascii bytes: some Sequence<UInt8>) {
    for byte in bytes {
      guard 0x20...0x7E ~= byte else { return nil }
      take(ascii: byte)
    }
  }

  /// Counts valid UTF-8 as ``OpaqueString`` prepares it.
  ///
  /// - Parameter text: The password.
  init(_ text: borrowing UTF8Span) {
    var table = CharacterTable.current
    self.init()
    if takeFormC(text, &table) { return }
    self.init()
    var form = OpaqueString.mapped(text, &table)
    defer { form.wipe() }
    for scalar in form.scalars { take(scalar, table.traits(scalar)) }
  }

  private init() {}

  /// Counts a text that is in Form C already, in one pass over its characters.
  ///
  /// - Returns: Whether it is; false at the first character that normalization may change or join with what is before it.
  private mutating func takeFormC(_ text: borrowing UTF8Span, _ table: inout CharacterTable) -> Bool {
    var combiningClass: UInt8 = 0
    var scalars = text.makeUnicodeScalarIterator()
    while let scalar = scalars.next() {
      if 0x20...0x7E ~= scalar.value {
        take(ascii: UInt8(truncatingIfNeeded: scalar.value))
        combiningClass = 0
        continue
      }
      let traits = table.traits(scalar)
      if traits.isSpace {
        take(ascii: 0x20)
      } else {
        guard traits.stays, traits.combiningClass == 0 || combiningClass <= traits.combiningClass else {
          return false
        }
        take(scalar, traits)
      }
      combiningClass = traits.combiningClass
    }
    return true
  }

  private mutating func take(_ scalar: Unicode.Scalar, _ traits: CharacterTraits) {
    if !traits.isAllowed { isAllowed = false }
    let kind: Kind
    if traits.isLetter {
      kind = .letter
      letters += 1
      if traits.isUppercase { uppercase += 1 }
      if traits.isLowercase { lowercase += 1 }
    } else if traits.isDigit {
      kind = .digit
      digits += 1
    } else {
      kind = .other
    }
    take(scalar.value, folded: traits.folded, kind)
  }

  private mutating func take(ascii byte: UInt8) {
    let kind: Kind
    switch byte {
    case 0x61...0x7A:
      kind = .letter
      lowercase += 1
      letters += 1
    case 0x41...0x5A:
      kind = .letter
      uppercase += 1
      letters += 1
    case 0x30...0x39:
      kind = .digit
      digits += 1
    default: kind = .other
    }
    // Bit 0x20 is the case of a letter, and set in every digit.
    take(UInt32(byte), folded: UInt32(kind == .letter ? byte | 0x20 : byte), kind)
  }

  private mutating func take(_ value: UInt32, folded: UInt32, _ kind: Kind) {
    run.repeats = value == run.value && length > 0 ? run.repeats + 1 : 1
    longestRepeat = max(longestRepeat, run.repeats)
    let step = Int64(folded) - Int64(run.folded)
    if length > 0, step == 1 || step == -1, kind != .other, kind == run.kind {
      run.steps = step == run.direction ? run.steps + 1 : 2
      run.direction = step
      if run.steps >= PasswordPolicy.sequenceLength { hasSequence = true }
    } else {
      run.steps = 1
      run.direction = 0
    }
    run.value = value
    run.folded = folded
    run.kind = kind
    length += 1
  }

  /// What a character is for sequences.
  private enum Kind {
    case letter
    case digit
    case other
  }

  /// The last character, and the runs that it ends.
  private struct Run {
    var value: UInt32 = 0
    var folded: UInt32 = 0
    var kind = Kind.other
    var repeats = 0
    var steps = 1
    var direction: Int64 = 0
  }
}
