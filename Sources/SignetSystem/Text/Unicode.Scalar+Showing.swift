extension Unicode.Scalar {
  /// True if it has no visible form: foreign text must not hide anything, or move the text around it.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// True if it is a letter or digit of any script that always displays as itself.
  ///
  /// It is written from left to right, is not blank, and is not an alternative encoding of another character.
  package var isPlainLetterOrDigit: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
      !isInvisible && !isBlank && !isRightToLeft && !properties.isFullCompositionExclusion
    default: false
    }
  }

  /// True if it is a control character, or changes the direction or the line of the following text.
  ///
  /// Joiners and variation selectors are excluded: names in many scripts, and emoji, need them.
  package var steersText: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
