import Foundation
import SignetTerminal

// libcurl would write the keys of TLS sessions to the file that this names.
unsetenv("SSLKEYLOGFILE")
ProgramIntegrity.begin()
await signetProgram.main()
