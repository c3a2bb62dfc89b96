#if os(Linux)
  import CTPM2
  import SignetCrypto
  import Synchronization

  /// What a keystore knows of its TPM from one conversation to the next.
  package final class TPMMemory: Sendable {
    /// A storage key as the TPM saved it, encrypted for itself: loading it is quicker than making it anew.
    struct SavedKey: Sendable {
      let context: TPMS_CONTEXT
      let name: [UInt8]
      let publicKey: P256.KeyAgreement.PublicKey
    }

    private struct State {
      var pinnedName: [UInt8]?
      var savedKey: SavedKey?
      var seenIndices: Set<[UInt8]> = []
    }

    private let state = Mutex(State())

    /// The Name of the first storage key that this keystore has used: all that it makes from then on is made under that one.
    var pinnedName: [UInt8]? { state.withLock { $0.pinnedName } }

    var savedKey: SavedKey? {
      get { state.withLock { $0.savedKey } }
      set { state.withLock { $0.savedKey = newValue } }
    }

    /// Remembers the first Name.
    func pin(_ name: [UInt8]) {
      state.withLock { if $0.pinnedName == nil { $0.pinnedName = name } }
    }

    /// Whether the TPM has said that it has the index of this Name, and nothing since that it has not.
    func hasSeen(_ name: [UInt8]) -> Bool { state.withLock { $0.seenIndices.contains(name) } }

    /// Remembers what the TPM said of an index.
    func note(_ name: [UInt8], isThere: Bool) {
      state.withLock { state in
        if isThere { state.seenIndices.insert(name) } else { state.seenIndices.remove(name) }
      }
    }
  }
#endif
