import CReleaseKey
public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The programs of a release with their digests, signed when the release was built.
///
/// On disk it is a JWS in compact form (RFC 7515, ES256, `typ` `signet-release`), whose payload is JSON:
/// `{"version":1,"release":"0.1.0","flavour":"release","created":…,"programs":[{"name":"signet","bytes":…,"sha256":"…"}]}`.
/// The time is in seconds since 1970-01-01T00:00:00Z, and a digest has 64 hexadecimal digits.
public struct ReleaseManifest: Sendable, Hashable {
  /// A program of the release.
  public struct Program: Sendable, Hashable {
    /// The name of its file.
    public let name: String
    /// The size of the file, in bytes.
    public let byteCount: Int64
    /// SHA-256 of the whole file, 32 bytes.
    public let digest: [UInt8]

    /// Creates an entry.
    public init(name: String, byteCount: Int64, digest: [UInt8]) {
      self.name = name
      self.byteCount = byteCount
      self.digest = digest
    }
  }

  /// The release's version.
  public let release: String
  /// The build flavour of the programs.
  public let flavour: Flavour
  /// The time of signing, in seconds since 1970-01-01T00:00:00Z.
  public let created: Int64
  /// The programs.
  public let programs: [Program]

  private static let type = "signet-release"
  /// The maximum size of a manifest, in bytes.
  public static let byteLimit = 65_536

  /// Creates a manifest.
  public init(release: String, flavour: Flavour, created: Int64, programs: [Program]) {
    self.release = release
    self.flavour = flavour
    self.created = created
    self.programs = programs
  }

  /// Signs the manifest.
  ///
  /// - Parameter key: The release's key.
  /// - Returns: A JWS in compact form.
  /// - Throws: ``ManifestFailure``.
  public func signed(with key: P256.Signing.PrivateKey) throws(ManifestFailure) -> String {
    let object: JSONObject = [
      "version": 1, "release": .string(release), "flavour": .string(flavour.rawValue),
      "created": .integer(created),
      "programs": .array(
        programs.map { program in
          [
            "name": .string(program.name), "bytes": .integer(program.byteCount),
            "sha256": .string(Hex.encode(program.digest)),
          ]
        }),
    ]
    do throws(JOSEFailure) { return try JWS.sign(object.bytes, with: SigningKey(key), type: Self.type) } catch
    {
      throw .notSigned("\(error)")
    }
  }

  /// Verifies and reads a signed manifest.
  ///
  /// - Parameters:
  ///   - text: A JWS in compact form; trailing white space is ignored.
  ///   - key: The release's public key.
  /// - Throws: ``ManifestFailure``.
  public init(verifying text: String, with key: P256.Signing.PublicKey) throws(ManifestFailure) {
    guard text.utf8.count <= Self.byteLimit else {
      throw .malformed("it is longer than \(Self.byteLimit) bytes")
    }
    let verified: VerifiedJWS
    do throws(JOSEFailure) {
      let jws = try JWS(compact: text.trimmingSuffix { $0.isWhitespace })
      verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
    } catch { throw .forged("\(error)") }
    guard verified.header.type == Self.type else { throw .malformed("it is signed for something else") }
    do { try self.init(parsing: verified.payload) } catch let failure as ManifestFailure {
      throw failure
    } catch {
      throw .malformed("\(error)")
    }
  }

  private init(parsing payload: [UInt8]) throws {
    let object = try JSONObject(parsing: payload)
    guard try object.integer("version") == 1 else { throw ManifestFailure.malformed("its version is not 1") }
    release = try object.string("release")
    guard let flavour = Flavour(rawValue: try object.string("flavour")) else {
      throw ManifestFailure.malformed("its flavour is neither debug nor release")
    }
    self.flavour = flavour
    created = try object.integer("created")
    programs = try object.array("programs").map { value in
      guard case .object(let object) = value else {
        throw ManifestFailure.malformed("a program is not an object")
      }
      let digest: [UInt8]
      do { digest = try Hex.decode(try object.string("sha256")) } catch is EncodingFailure {
        throw ManifestFailure.malformed("a digest is not hexadecimal")
      }
      guard digest.count == 32 else { throw ManifestFailure.malformed("a digest does not have 32 bytes") }
      return Program(name: try object.string("name"), byteCount: try object.integer("bytes"), digest: digest)
    }
  }

  /// The result of comparing a program with a manifest.
  public enum Verdict: Sendable, Hashable {
    /// The program is the released one.
    case same
    /// The program differs from the released one.
    case changed
    /// The manifest has no program of this name.
    case unknown
  }

  /// Compares a program with the manifest.
  public func verdict(on program: Program) -> Verdict {
    guard let released = programs.first(where: { $0.name == program.name }) else { return .unknown }
    return released == program ? .same : .changed
  }
}

/// Why a manifest was rejected or not signed.
@nonexhaustive public enum ManifestFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The trusted key did not sign it.
  case forged(String)
  /// The signature is valid, but the content is not a manifest.
  case malformed(String)
  /// Signing failed.
  case notSigned(String)

  /// The cause.
  public var description: String {
    switch self {
    case .forged(let reason): "the manifest is not signed by the key of this release: \(reason)"
    case .malformed(let reason): "the manifest can't be read: \(reason)"
    case .notSigned(let reason): "the manifest can't be signed: \(reason)"
    }
  }
}

/// The public key that verifies this program's manifest.
public enum ReleaseKey {
  /// The key that the program was linked with (`Scripts/release`); `nil` for a program without a release.
  public static var builtIn: P256.Signing.PublicKey? {
    let digits = unsafe String(cString: signet_release_key())
    return digits.isEmpty ? nil : Self.key(digits)
  }

  /// Parses a key from 130 hexadecimal digits: an uncompressed point.
  public static func key(_ digits: String) -> P256.Signing.PublicKey? {
    do { return try P256.Signing.PublicKey(x963: Hex.decode(digits)) } catch { return nil }
  }
}
