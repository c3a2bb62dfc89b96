/// A store in which processes share handshake keys.
///
/// Calls may overlap, also those of several processes.
package protocol HandshakeKeyStore: Sendable {
  /// Reads all keys.
  ///
  /// - Returns: The current keys, in no order.
  /// - Throws: The failure to read them.
  func keys() throws -> [HandshakeKeys.Key]
  /// Reads one key.
  ///
  /// - Parameter id: Its id: ``HandshakeKeys/idByteCount`` bytes from an unauthenticated request.
  /// - Returns: The key; `nil` if there is none, or if it is being written.
  /// - Throws: The failure to read it.
  func key(_ id: [UInt8]) throws -> HandshakeKeys.Key?
  /// Adds a key for all processes.
  ///
  /// - Parameter key: The key, with a unique id.
  /// - Throws: The failure to write it.
  func add(_ key: HandshakeKeys.Key) throws
  /// Overwrites and deletes keys, each one that it can.
  ///
  /// - Parameter keys: The keys; one that no longer exists is no failure.
  /// - Throws: The failure to overwrite or delete one.
  func forget(_ keys: [HandshakeKeys.Key]) throws
  /// Deletes all keys, unless another process uses them.
  ///
  /// - Throws: The failure to read or write them.
  func end() throws
}
