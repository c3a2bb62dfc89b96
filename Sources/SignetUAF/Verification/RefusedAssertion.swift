/// An assertion that was not accepted.
package struct RefusedAssertion: Hashable, Sendable {
  /// The key that it claims to be about, where it can be read.
  package let key: KeyReference?
  /// What is wrong.
  package let reason: AssertionRefusal

  package init(key: KeyReference?, reason: AssertionRefusal) { (self.key, self.reason) = (key, reason) }
}
