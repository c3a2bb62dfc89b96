import Foundation
import SignetTerminal

// GnuTLS and libcurl would write the keys of TLS sessions to the file that this names.
unsetenv("SSLKEYLOGFILE")
await ServerProgram.program.main()
