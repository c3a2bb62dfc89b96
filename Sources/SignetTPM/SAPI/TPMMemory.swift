#if os(Linux)
  import CTPM2
  import SignetCrypto
  import Synchronization

  /// The state of a keystore's TPM that outlives one conversation.
  package final class TPMMemory: Sendable {
    /// A storage key's saved context, which the TPM encrypted for itself; loading it is faster than making the key again.
    struct SavedKey: Sendable {
      let context: TPMS_CONTEXT
      let name: [UInt8]
      let publicKey: P256.KeyAgreement.PublicKey
    }

    private struct State {
      var pinnedName: [UInt8]?
      var savedKey: SavedKey?
      var confirmedIndices: Set<[UInt8]> = []
    }

    private let state = Mutex(State())

    /// The Name of the first storage key that this keystore used; all later objects are made under that key.
    var pinnedName: [UInt8]? { state.withLock { $0.pinnedName } }

    var savedKey: SavedKey? {
      get { state.withLock { $0.savedKey } }
      set { state.withLock { $0.savedKey = newValue } }
    }

    /// Stores the Name unless one is stored already.
    func pin(_ name: [UInt8]) {
      state.withLock { if $0.pinnedName == nil { $0.pinnedName = name } }
    }

    /// Returns true if the TPM's last statement about the index of this Name was that it exists.
    func isConfirmed(_ name: [UInt8]) -> Bool { state.withLock { $0.confirmedIndices.contains(name) } }

    /// Records the TPM's statement about an index.
    func record(_ name: [UInt8], exists: Bool) {
      state.withLock { state in
        if exists { state.confirmedIndices.insert(name) } else { state.confirmedIndices.remove(name) }
      }
    }
  }
#endif
