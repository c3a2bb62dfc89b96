import Foundation
import SignetCrypto
import SignetIntegrity
import SignetJOSE
import SignetTestKit
import Testing

@Suite struct ManifestTests {
  private let key = P256.Signing.PrivateKey()
  private let manifest = ReleaseManifest(
    release: "1.2.3", flavour: .release, created: 1_790_000_000,
    programs: [
      .init(name: "signet", byteCount: 3, digest: HashFunction.sha256.digest(of: Array("abc".utf8))),
      .init(name: "signet-server", byteCount: 0, digest: HashFunction.sha256.digest(of: [])),
    ])

  @Test("a signed manifest is read back and lists its programs")
  func roundTrip() throws {
    let text = try manifest.signed(with: key)
    let read = try ReleaseManifest(verifying: text + "\n", with: key.publicKey)
    #expect(read == manifest)
    #expect(read.verdict(on: manifest.programs[0]) == .same)
    #expect(
      read.verdict(on: .init(name: "signet", byteCount: 3, digest: manifest.programs[1].digest)) == .changed)
    #expect(
      read.verdict(on: .init(name: "signet", byteCount: 4, digest: manifest.programs[0].digest)) == .changed)
    #expect(
      read.verdict(on: .init(name: "other", byteCount: 3, digest: manifest.programs[0].digest)) == .unknown)
  }

  @Test("a wrong key, changed byte, type, algorithm and malformed member have different errors")
  func refusals() throws {
    let text = try manifest.signed(with: key)
    func failure(_ text: String) -> ManifestFailure? {
      do throws(ManifestFailure) { _ = try ReleaseManifest(verifying: text, with: key.publicKey) } catch {
        return error
      }
      return nil
    }
    #expect(throws: ManifestFailure.self) {
      try ReleaseManifest(verifying: text, with: P256.Signing.PrivateKey().publicKey)
    }
    var bytes = Array(text.utf8)
    bytes[bytes.count / 2] ^= 1
    for forged in [String(decoding: bytes, as: UTF8.self), "", "a.b.c", String(text.dropLast(4))] {
      guard case .forged? = failure(forged) else {
        Issue.record("\(forged.prefix(20)) is not refused as forged")
        continue
      }
    }
    let payload = Array(#"{"version":1,"release":"1","flavour":"release","created":1,"programs":[]}"#.utf8)
    #expect(failure(try JWS.sign(payload, with: SigningKey(key), type: "signet-release")) == nil)
    for (json, type) in [
      (String(decoding: payload, as: UTF8.self), "JWT"), (#"{"version":2}"#, "signet-release"),
      ("[]", "signet-release"),
      (#"{"version":1,"release":"1","flavour":"other","created":1,"programs":[]}"#, "signet-release"),
      (#"{"version":1,"release":"1","flavour":"debug","created":1,"programs":[7]}"#, "signet-release"),
      (
        #"{"version":1,"release":"1","flavour":"debug","created":1,"programs":[{"name":"x","bytes":1,"sha256":"00"}]}"#,
        "signet-release"
      ),
      (
        #"{"version":1,"release":"1","flavour":"debug","created":1,"programs":[{"name":"x","bytes":1,"sha256":"xy"}]}"#,
        "signet-release"
      ),
    ] {
      guard case .malformed? = failure(try JWS.sign(Array(json.utf8), with: SigningKey(key), type: type))
      else {
        Issue.record("\(json) is not refused as malformed")
        continue
      }
    }
    #expect(failure(String(repeating: "a", count: ReleaseManifest.byteLimit + 1)) != nil)
  }

  @Test("a development build has no release key; only valid digits are a key")
  func builtInKey() {
    #expect(ReleaseKey.builtIn == nil)
    #expect(ReleaseKey.key(Hex.encode(key.publicKey.x963Representation)) == key.publicKey)
    for digits in ["", "04", "zz", String(repeating: "0", count: 130)] {
      #expect(ReleaseKey.key(digits) == nil)
    }
  }

  #if os(Linux)
    @Test("this program is compared with a manifest: same, changed, unknown, forged, missing, without a key")
    func thisProgram() throws {
      let folder = try TemporaryFolder()
      let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let own = try #require(ReleaseManifest.Program(file: path))
      func found(_ programs: [ReleaseManifest.Program], signedBy signer: P256.Signing.PrivateKey? = nil)
        throws -> [Finding]
      {
        let manifest = ReleaseManifest(release: "1", flavour: .release, created: 1, programs: programs)
        let file = folder.file("manifest")
        try Data(manifest.signed(with: signer ?? key).utf8).write(to: URL(filePath: file))
        return try BinaryGuard(key: key.publicKey, manifest: file).examine().map(\.finding)
      }
      #expect(try found([own]).isEmpty)
      #expect(
        try found([.init(name: own.name, byteCount: own.byteCount, digest: manifest.programs[0].digest)]) == [
          .changedProgram
        ])
      #expect(try found([]) == [.changedProgram])
      // A renamed program is not a changed one.
      #expect(try found([.init(name: "other", byteCount: own.byteCount, digest: own.digest)]).isEmpty)
      #expect(try found([own], signedBy: P256.Signing.PrivateKey()) == [.forgedManifest])
      #expect(
        try BinaryGuard(key: key.publicKey, manifest: folder.file("none")).examine().map(\.finding) == [
          .missingManifest
        ])
      let without = try BinaryGuard(key: nil, manifest: nil).examine()
      #expect(without.map(\.finding) == [.unsignedBuild] && without[0].weight == 0)
    }

    @Test("the digest of a file is that of its bytes")
    func digests() throws {
      let folder = try TemporaryFolder()
      let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try Data(bytes).write(to: URL(filePath: folder.file("program")))
      let program = try #require(ReleaseManifest.Program(file: folder.file("program")))
      #expect(
        program == .init(name: "program", byteCount: 3_000_000, digest: HashFunction.sha256.digest(of: bytes))
      )
      #expect(ReleaseManifest.Program(file: folder.file("none")) == nil)
    }
  #endif
}
