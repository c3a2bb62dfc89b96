import SignetTerminal

ProgramIntegrity.begin()
await signetProgram.main()
