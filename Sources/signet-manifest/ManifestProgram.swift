import SignetIntegrity
import SignetTerminal

/// The command line of `signet-manifest`, a tool for building releases.
enum ManifestProgram {
  static let program = Program(
    "signet-manifest", "Sign and verify the manifest of a release", version: "0.1.0", date: "2026-11-22",
    description: """
      A manifest names the programs of a release with their digests. It is signed by the release's key, whose public part is built \
      into the programs, so that they notice when they are not the ones of the release.

      'key' makes a key, or shows the public part of one; 'sign' writes a manifest of programs as they are installed; 'verify' compares.
      """,
    commands: [ManifestCommands.key, ManifestCommands.sign, ManifestCommands.verify],
    exitCodes: [
      .init(.success, "Success; for 'verify' all programs are those of the release"),
      .init(.failure, "A program differs from the release"),
      .init(.usage, "The command line is wrong"),
      .init(.dataError, "A manifest or a key is malformed"),
      .init(.noInput, "A file can't be read"),
      .init(.cannotCreate, "A file can't be written"),
      .init(.permissionDenied, "Other users can read the key's file"),
    ],
    examples: [
      .init(
        "signet-manifest key .build/release.key",
        "Make the key, if there is none yet, and print its public part"),
      .init(
        "signet-manifest sign --key .build/release.key --output release.manifest signet signet-server",
        "Sign what is installed"),
    ],
    seeAlso: ["signet(1)", "signet-server(1)"]
  ) { $0 is ManifestFailure ? .dataError : .software }
}
