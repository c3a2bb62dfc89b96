import Foundation
import Testing

/// Certificates of the tests, made once in a run by the `openssl` command line.
struct Certificates: Sendable {
  /// A server's certificate and key, as files.
  struct Server: Sendable {
    let certificatePath: String
    let keyPath: String
    /// The SHA-256 of its SubjectPublicKeyInfo.
    let pin: [UInt8]
  }

  /// The issuer of every certificate below, as PEM.
  let authority: String
  /// An issuer without certificates.
  let otherAuthority: String
  /// A folder of hashed certificates in OpenSSL's form, with `authority` in it.
  let rootsFolder: String
  /// For 127.0.0.1 and localhost.
  let good: Server
  /// For another name.
  let wrongName: Server
  /// For 127.0.0.1, expired.
  let expired: Server
  /// For 127.0.0.1, with an RSA key.
  let rsa: Server

  /// The certificates of this run.
  static func made() throws -> Certificates { try shared.get() }
  private static let shared = Result { try Certificates() }

  private init() throws {
    let folder = certificateFolder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { removeCertificateFolder() }
    let maker = Maker(folder: folder.path)
    authority = try maker.authority("ca")
    otherAuthority = try maker.authority("other")
    good = try maker.server("good", names: "IP:127.0.0.1,DNS:localhost")
    wrongName = try maker.server("wrong-name", names: "DNS:elsewhere.test")
    expired = try maker.server("expired", names: "IP:127.0.0.1", days: "-1")
    rsa = try maker.server("rsa", names: "IP:127.0.0.1", key: ["rsa:2048"])
    let hash = try Tools.run("openssl", ["x509", "-hash", "-noout", "-in", maker.path("ca.pem")])
    let name = String(decoding: hash, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    rootsFolder = maker.path("roots")
    try FileManager.default.createDirectory(atPath: rootsFolder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: maker.path("ca.pem"), toPath: "\(rootsFolder)/\(name).0")
  }
}

private let certificateFolder =
  FileManager.default.temporaryDirectory.appending(path: "signet-tls-\(UUID().uuidString)")

/// Removes the folder when the run ends.
private func removeCertificateFolder() {
  do { try FileManager.default.removeItem(at: certificateFolder) } catch { print("left behind: \(error)") }
}

private struct Maker {
  let folder: String

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  func authority(_ name: String) throws -> String {
    try Tools.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "2", "-subj", "/CN=\(name)",
        "-addext", "keyUsage=critical,keyCertSign",
      ])
    return try String(contentsOfFile: path("\(name).pem"), encoding: .utf8)
  }

  func server(
    _ name: String, names: String, days: String = "2",
    key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
  ) throws -> Certificates.Server {
    let request = path("\(name).csr")
    let certificate = path("\(name).pem")
    let keyPath = path("\(name).key")
    try Tools.run(
      "openssl",
      ["req", "-new", "-newkey"] + key + [
        "-nodes", "-keyout", keyPath, "-out", request, "-subj", "/CN=\(name)",
      ])
    let extensions = "subjectAltName=\(names)\nextendedKeyUsage=serverAuth\n"
    try extensions.write(toFile: path("\(name).cnf"), atomically: true, encoding: .utf8)
    try Tools.run(
      "openssl",
      [
        "x509", "-req", "-in", request, "-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-days", days,
        "-extfile", path("\(name).cnf"), "-out", certificate,
      ])
    try Tools.run(
      "openssl", ["pkey", "-in", keyPath, "-pubout", "-outform", "DER", "-out", path("\(name).spki")])
    let pin = try Tools.run("openssl", ["dgst", "-sha256", "-binary", path("\(name).spki")])
    return .init(certificatePath: certificate, keyPath: keyPath, pin: pin)
  }
}
