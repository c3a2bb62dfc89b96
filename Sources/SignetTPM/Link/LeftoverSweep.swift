#if os(Linux)
  import SignetVault

  /// Flushes keys and sessions that killed programs left in a TPM without a resource manager.
  ///
  /// Such a TPM has three slots for keys and a few for sessions, and serves one program at a time. So if the connected
  /// program finds no free slot, no other program is using the occupied ones.
  enum LeftoverSweep {
    /// Flushes all keys and sessions.
    static func run(_ link: any TPMLink) throws(KeystoreFailure) {
      for kind in [transientObjects, loadedSessions] {
        for handle in try handles(from: kind, link) {
          try link.send(TPMFrame.command(flushContext, [handle]))
          _ = try link.receive()
        }
      }
    }

    private static let transientObjects: UInt32 = 0x8000_0000
    private static let loadedSessions: UInt32 = 0x0200_0000
    private static let flushContext: UInt32 = 0x165
    private static let getCapability: UInt32 = 0x17A
    private static let handleCapability: UInt32 = 1

    private static func handles(from first: UInt32, _ link: any TPMLink) throws(KeystoreFailure) -> [UInt32] {
      try link.send(TPMFrame.command(getCapability, [handleCapability, first, 64]))
      let answer = try link.receive()
      // After the header: a flag for more data, the capability, a count and the handles.
      let listOffset = TPMFrame.headerByteCount + 9
      guard TPMFrame.code(ofAnswer: answer) == 0, let count = TPMFrame.number(answer, listOffset - 4),
        count <= 64
      else { throw .disconnected }
      return (0..<Int(count)).compactMap { TPMFrame.number(answer, listOffset + 4 * $0) }
    }
  }
#endif
