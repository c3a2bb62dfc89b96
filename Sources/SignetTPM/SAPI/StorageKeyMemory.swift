#if os(Linux)
  import CTPM2
  import SignetCrypto
  import Synchronization

  /// What a keystore knows of its TPM's storage key from one conversation to the next.
  final class StorageKeyMemory: Sendable {
    /// A key as the TPM saved it, encrypted for itself: loading it is quicker than making it anew.
    struct Saved: Sendable {
      let context: TPMS_CONTEXT
      let name: [UInt8]
      let publicKey: P256.KeyAgreement.PublicKey
    }

    private struct State {
      var pinnedName: [UInt8]?
      var saved: Saved?
    }

    private let state = Mutex(State())

    /// The Name of the first storage key that this keystore has used: all that it makes from then on is made under that one.
    var pinnedName: [UInt8]? { state.withLock { $0.pinnedName } }

    var saved: Saved? {
      get { state.withLock { $0.saved } }
      set { state.withLock { $0.saved = newValue } }
    }

    /// Remembers the first Name.
    func pin(_ name: [UInt8]) {
      state.withLock { if $0.pinnedName == nil { $0.pinnedName = name } }
    }
  }
#endif
