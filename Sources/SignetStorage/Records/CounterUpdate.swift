/// A use of a UAF key that its signature proves, with the counter to compare with the stored one.
public struct CounterUpdate: Hashable, Sendable {
  /// The model.
  public var aaid: String
  /// The key id.
  public var keyID: [UInt8]
  /// The signed counter.
  public var signCounter: UInt32

  /// Describes a use.
  public init(aaid: String, keyID: [UInt8], signCounter: UInt32) {
    self.aaid = aaid
    self.keyID = keyID
    self.signCounter = signCounter
  }
}
