package struct RefusedAssertion: Hashable, Sendable {
  /// The claimed key, if it is readable.
  package let key: KeyReference?
  package let reason: AssertionRefusal

  package init(key: KeyReference?, reason: AssertionRefusal) { (self.key, self.reason) = (key, reason) }
}
