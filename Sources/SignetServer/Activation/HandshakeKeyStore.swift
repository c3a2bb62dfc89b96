/// Where processes share keys of handshakes.
///
/// Calls may overlap, also those of several processes.
package protocol HandshakeKeyStore: Sendable {
  /// Reads all keys.
  ///
  /// - Returns: Those that there are now, in no order.
  /// - Throws: Why they can't be read.
  func keys() throws -> [HandshakeKeys.Key]
  /// Reads one key.
  ///
  /// - Parameter id: Its id, ``HandshakeKeys/idByteCount`` bytes of anybody's.
  /// - Returns: The key; `nil` where there is none, or it is being written.
  /// - Throws: Why it can't be read.
  func key(_ id: [UInt8]) throws -> HandshakeKeys.Key?
  /// Adds a key for all processes.
  ///
  /// - Parameter key: The key, whose id no other has.
  /// - Throws: Why it can't be written.
  func add(_ key: HandshakeKeys.Key) throws
  /// Overwrites keys and deletes them, each that can be.
  ///
  /// - Parameter keys: Keys; one that is gone already is forgotten.
  /// - Throws: Why one can't be written.
  func forget(_ keys: [HandshakeKeys.Key]) throws
  /// Forgets all keys, unless another process uses them.
  ///
  /// - Throws: Why they can't be read or written.
  func end() throws
}
