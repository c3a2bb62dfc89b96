#if os(Linux)
  import CTPM2
  public import SignetVault

  extension TPMKeystore: ClockedKeystore {
    /// The time since the TPM was started, which no program can set (TPM 2.0 Library, part 1 section 36.2).
    ///
    /// The TPM's `Clock`, which continues over restarts, is not used: the TPM's owner can set it forward.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func time() throws(KeystoreFailure) -> HardwareTime {
      try converse { conversation throws(TPMFailure) in try conversation.time() }
    }
  }

  extension Conversation {
    /// The time since the TPM was started, and the number of its resets and restarts.
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
