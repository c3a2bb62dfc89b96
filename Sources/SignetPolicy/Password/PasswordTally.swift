/// The counts of a password that a policy needs; no other information about the password.
///
/// One function counts every character and never returns early; the traits of a character are passed as a value (decision
/// 174).
struct PasswordTally {
  private(set) var length = 0
  private(set) var longestRepeat = 0
  private(set) var hasSequence = false
  private(set) var isAllowed = true

  private var uppercase = 0
  private var lowercase = 0
  private var letters = 0
  private var digits = 0
  private var end = End()

  /// Counts the characters of valid UTF-8 as ``OpaqueString`` prepares it.
  ///
  /// - Parameter text: The password.
  init(_ text: UTF8Span) {
    var table = CharacterTable.current
    var text = text  // the check marks the span
    // The quick check copies nothing; where it is not sure, a form is made that can be wiped (decision 223).
    if text.checkForNFC(quickCheck: true) {
      var scalars = text.makeUnicodeScalarIterator()
      while let scalar = scalars.next() { count(scalar, table.traits(scalar)) }
    } else {
      var form = OpaqueString.mapped(text, &table)
      defer { form.wipe() }
      for scalar in form.scalars { count(scalar, table.traits(scalar)) }
    }
  }

  func count(of kind: CharacterClass) -> Int {
    switch kind {
    case .uppercase: uppercase
    case .lowercase: lowercase
    case .letter: letters
    case .digit: digits
    case .nonAlphanumeric: length - letters - digits
    }
  }

  private mutating func count(_ scalar: Unicode.Scalar, _ traits: CharacterTraits) {
    length += 1
    letters += traits.isLetter ? 1 : 0
    uppercase += traits.isUppercase ? 1 : 0
    lowercase += traits.isLowercase ? 1 : 0
    digits += traits.isDigit ? 1 : 0
    isAllowed = isAllowed && traits.isAllowed
    end = end.followed(by: scalar, traits)
    longestRepeat = max(longestRepeat, end.repeats)
    hasSequence = hasSequence || end.steps >= PasswordPolicy.sequenceLength
  }

  /// The last character, and the runs that end with it.
  private struct End {
    private(set) var repeats = 0
    private(set) var steps = 0

    private var scalar: UInt32 = .max  // no character
    private var folded: UInt32 = .max
    private var isLetter = false
    private var isDigit = false
    private var direction: Int64 = 0

    func followed(by scalar: Unicode.Scalar, _ traits: CharacterTraits) -> End {
      let value: UInt32 = traits.isSpace ? 0x20 : scalar.value
      let step = Int64(traits.folded) - Int64(folded)
      let isStep =
        (step == 1 || step == -1) && (traits.isLetter && isLetter || traits.isDigit && isDigit)
      var end = End()
      end.repeats = value == self.scalar ? repeats + 1 : 1
      end.steps = !isStep ? 1 : step == direction ? steps + 1 : 2
      end.scalar = value
      end.folded = traits.folded
      end.isLetter = traits.isLetter
      end.isDigit = traits.isDigit
      end.direction = isStep ? step : 0
      return end
    }
  }
}
