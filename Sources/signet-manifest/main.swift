import CProgramStart
import SignetCrypto
import SignetIntegrity
import SignetTerminal

// Its object is linked where it is called; it has closed this process before the first code of a library.
_ = signet_program_start()
CryptoLibrary.keepsStateAtExit()
#if os(Linux)
  // It has the release's private key.
  ProcessHardening.closeMemory()
#endif
await ManifestProgram.program.main()
