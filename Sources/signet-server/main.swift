import CProgramStart
import SignetCrypto
import SignetIntegrity
import SignetTerminal

// Its object is linked where it is called; it has closed this process before the first code of a library.
_ = signet_program_start()
CryptoLibrary.keepsStateAtExit()
#if os(Linux)
  // Keys of the server, of relying parties and of operators are in the memory of each of its commands.
  ProcessHardening.closeMemory()
#endif
await ServerProgram.program.main()
