/// A selection of a user's UAF keys.
public struct UAFKeySelection: Hashable, Sendable {
  /// The model; `nil` for all.
  public var aaid: String?
  /// The key id of a key of the model; `nil` for all.
  public var keyID: [UInt8]?

  /// Selects keys; a key id without a model selects none.
  public init(aaid: String? = nil, keyID: [UInt8]? = nil) { (self.aaid, self.keyID) = (aaid, keyID) }
}
