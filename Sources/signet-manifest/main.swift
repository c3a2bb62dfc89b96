import CProgramStart
import SignetCrypto
import SignetIntegrity
import SignetTerminal

// The call links the function's object file, whose constructor has closed this process before any library code ran.
_ = signet_program_start()
CryptoLibrary.keepsStateAtExit()
#if os(Linux)
  // This process has the release's private key.
  ProcessHardening.closeMemory()
#endif
await ManifestProgram.program.main()
