import CProgramStart
import SignetCrypto
import SignetIntegrity
import SignetTerminal

// The call links the function's object file, whose constructor has closed this process before any library code ran.
_ = signet_program_start()
CryptoLibrary.keepsStateAtExit()
#if os(Linux)
  // Each command may hold keys of the server, of relying parties or of operators in memory.
  ProcessHardening.closeMemory()
#endif
await ServerProgram.program.main()
