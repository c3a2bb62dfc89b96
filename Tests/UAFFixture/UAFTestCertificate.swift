package import SignetCrypto

/// A certificate of tests, written element by element in DER, so that it can have contents that no authority would issue.
package struct UAFTestCertificate: Sendable {
  /// An extension: the content of its object identifier, and that of its `extnValue`.
  package struct Extension: Sendable {
    let identifier: [UInt8]
    let value: [UInt8]

    package init(_ identifier: [UInt8], _ value: [UInt8]) {
      (self.identifier, self.value) = (identifier, value)
    }

    /// The extension of an authority (2.5.29.19).
    package static let authority = Extension([0x55, 0x1D, 0x13], [0x30, 0x03, 0x01, 0x01, 0xFF])

    /// The key usage: the bits of the first byte, `digitalSignature` the highest (2.5.29.15).
    package static func usage(_ bits: UInt8) -> Extension {
      Extension([0x55, 0x1D, 0x0F], [0x03, 0x02, UInt8(bits.trailingZeroBitCount), bits])
    }

    /// The model of the certificate (1.3.6.1.4.1.45724.1.1.1), with raw content.
    package static func model(_ value: [UInt8]) -> Extension {
      Extension([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xE5, 0x1C, 0x01, 0x01, 0x01], value)
    }
  }

  package let key = P256.Signing.PrivateKey()
  package let name: String
  /// The certificate in DER.
  package let der: [UInt8]

  /// Makes a certificate that is valid from 2020 to 2049.
  ///
  /// - Parameters:
  ///   - name: The common name, of less than 100 bytes.
  ///   - issuer: The issuer; `nil` for a self-signed one.
  ///   - extensions: The extensions.
  /// - Throws: ``CryptoFailure`` if memory is exhausted.
  package init(
    _ name: String, issuer: UAFTestCertificate? = nil, extensions: [Extension]
  ) throws(CryptoFailure) {
    self.name = name
    // ecdsa-with-SHA256
    let algorithm = Self.sequence([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])
    let validity =
      Self.element(0x17, Array("200101000000Z".utf8)) + Self.element(0x17, Array("491231235959Z".utf8))
    let list = extensions.flatMap {
      Self.sequence(Self.element(0x06, $0.identifier) + Self.element(0x04, $0.value))
    }
    let body = Self.sequence(
      [0xA0, 0x03, 0x02, 0x01, 0x02] + Self.element(0x02, [0x01] + SecureRandom.bytes(8)) + algorithm
        + Self.distinguished(issuer?.name ?? name) + Self.sequence(validity) + Self.distinguished(name)
        + key.publicKey.derRepresentation + Self.element(0xA3, Self.sequence(list)))
    let signature = try (issuer?.key ?? key).signature(for: body).derRepresentation
    der = Self.sequence(body + algorithm + Self.element(0x03, [0] + signature))
  }

  private static func distinguished(_ name: String) -> [UInt8] {
    let commonName: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]
    return sequence(element(0x31, sequence(commonName + element(0x0C, Array(name.utf8)))))
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] = count < 0x80 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    return [tag] + length + content
  }
}
