/// Compares arrays in a time that depends only on their lengths.
///
/// Arrays of different lengths are unequal at once: the length of a code or tag is not secret.
public func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  ConstantTime.areEqual(a.span, b.span)
}
