#if os(Linux)
  import CTPM2
  public import SignetVault

  extension TPMKeystore: ClockedKeystore {
    /// The TPM's time since it was started, which nobody can set (TPM 2.0 Library, part 1 section 36.2).
    ///
    /// Its `Clock`, which goes on over restarts, is not used: the TPM's owner can set it forward.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func time() throws(KeystoreFailure) -> HardwareTime {
      try converse { conversation throws(TPMFailure) in try conversation.time() }
    }
  }

  extension Conversation {
    /// The TPM's time since it was started, and how often it was started or resumed.
    func time() throws(TPMFailure) -> HardwareTime {
      var info = TPMS_TIME_INFO()
      try run("TPM2_ReadClock") {
        unsafe Tss2_Sys_ReadClock_Prepare(sys)
      } complete: {
        unsafe Tss2_Sys_ReadClock_Complete(sys, &info)
      }
      let starts = UInt64(info.clockInfo.resetCount) << 32 | UInt64(info.clockInfo.restartCount)
      return HardwareTime(startCount: starts, milliseconds: info.time)
    }
  }
#endif
