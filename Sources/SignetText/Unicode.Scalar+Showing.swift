extension Unicode.Scalar {
  /// Whether it shows nothing of itself: what somebody else chose must not hide, or move what is around it.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether it is a letter or a digit, of whatever script, that shows as itself wherever it stands: from left to right, not blank, and no
  /// other way to write another character.
  package var isPlainLetterOrDigit: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
      !isInvisible && !isBlank && !isRightToLeft && !properties.isFullCompositionExclusion
    default: false
    }
  }

  /// Whether it is a control character, or turns the direction or the line of what follows.
  ///
  /// Joiners and variation selectors, of which names in many scripts and emoji are made, are not.
  package var steersText: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
