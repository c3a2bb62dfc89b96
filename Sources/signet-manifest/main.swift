import SignetTerminal

await ManifestProgram.program.main()
