import Foundation
import SignetIntegrity
import SignetTerminal

// GnuTLS and libcurl would write the keys of TLS sessions to the file that this names.
unsetenv("SSLKEYLOGFILE")
#if os(Linux)
  // Keys of the server, of relying parties and of operators are in the memory of each of its commands.
  ProcessHardening.closeMemory()
#endif
await ServerProgram.program.main()
