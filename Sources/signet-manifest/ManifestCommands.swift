import SignetCrypto
import SignetIntegrity
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

enum ManifestCommands {
  private static let publicKey = Option.value(
    "public-key", "The release's public key, as 'key' prints it", named: "digits", isRequired: true)

  static let key = Command(
    "key", "Make a release's key, or read one, and print its public part",
    description: """
      The file holds the private key in base64url and is readable by its owner only. An existing file is read and not \
      changed. The public part is printed as 130 hexadecimal digits, which `Scripts/release` links into the programs.
      """,
    arguments: [Argument("file", "The key's file", completion: .file)]
  ) { arguments in
    let path = arguments.string("file")
    if !FileManager.default.fileExists(atPath: path) { try create(path) }
    arguments.output.print("\(ours: Hex.encode(try privateKey(path).publicKey.x963Representation))")
    return .success
  }

  static let sign = Command(
    "sign", "Write the manifest of programs as they are",
    options: [
      .value("key", "The release's private key", named: "file", isRequired: true, completion: .file),
      .value(
        "output", "The file to write the manifest to", named: "file", isRequired: true, completion: .file),
      .value("release", "The release's version", named: "version", default: "0.1.0"),
      .value(
        "flavour", "How the programs were built: debug or release", named: "flavour", default: "release"),
    ],
    arguments: [Argument("program", "A program's file", arity: .many(minimum: 1), completion: .file)]
  ) { arguments in
    let manifest = ReleaseManifest(
      release: arguments.string("release"), flavour: try arguments.choice("flavour", of: Flavour.self),
      created: Int64(Date().timeIntervalSince1970),
      programs: try arguments.strings("program").map(program))
    let text = try manifest.signed(with: try privateKey(arguments.string("key")))
    let path = arguments.string("output")
    do { try Data("\(text)\n".utf8).write(to: URL(filePath: path), options: .atomic) } catch {
      throw CommandFailure(.cannotCreate, "\(path) can't be written")
    }
    return .success
  }

  static let verify = Command(
    "verify", "Compare programs with a manifest",
    options: [
      publicKey, .value("manifest", "The manifest", named: "file", isRequired: true, completion: .file),
    ],
    arguments: [Argument("program", "A program's file", arity: .many(minimum: 1), completion: .file)]
  ) { arguments in
    guard let key = ReleaseKey.key(arguments.string("public-key")) else {
      throw CommandFailure(.usage, "a public key has 130 hexadecimal digits, which 'key' prints")
    }
    let manifest = try ReleaseManifest(
      verifying: try InputFile.text(of: arguments.string("manifest")), with: key)
    var isWhole = true
    for path in arguments.strings("program") {
      let verdict = manifest.verdict(on: try program(path))
      if verdict != .same { isWhole = false }
      arguments.output.print("\(path, limit: 1000): \(text(verdict, manifest))")
    }
    return isWhole ? .success : .failure
  }

  private static func text(_ verdict: ReleaseManifest.Verdict, _ manifest: ReleaseManifest) -> String {
    switch verdict {
    case .same: "matches release \(manifest.release) (\(manifest.flavour.rawValue))"
    case .changed: "DOES NOT match release \(manifest.release)"
    case .unknown: "not in release \(manifest.release)"
    }
  }

  private static func program(_ path: String) throws -> ReleaseManifest.Program {
    #if os(Linux)
      if let program = ReleaseManifest.Program(file: path) { return program }
    #endif
    throw CommandFailure(.noInput, "\(path) can't be read")
  }

  // MARK: Keys

  private static func create(_ path: String) throws {
    let text = Base64URL.insecureEncode(P256.Signing.PrivateKey().rawRepresentation) + "\n"
    do throws(FileFailure) {
      let file = try OpenFile(creating: path)
      try file.append(Array(text.utf8).span.bytes)
      try file.synchronize()
    } catch { throw CommandFailure(.cannotCreate, "\(path) can't be made") }
  }

  private static func privateKey(_ path: String) throws -> P256.Signing.PrivateKey {
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try OpenFile.reading(path, as: FileRule()).contents(limit: 1000)
    } catch {
      if case .missing = error { throw CommandFailure(.noInput, "there is no \(path)") }
      throw CommandFailure(
        .permissionDenied, "\(path) is readable by other users, or can't be read; chmod 600 \(path)")
    }
    do {
      return try P256.Signing.PrivateKey(
        rawRepresentation: Base64URL.decodeSecret(bytes.filter { $0 > 32 }))
    } catch { throw CommandFailure(.dataError, "\(path) does not hold a key; delete it, and make another") }
  }
}
