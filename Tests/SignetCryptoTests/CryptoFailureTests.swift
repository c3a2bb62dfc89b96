import SignetCrypto
import Testing

@Suite struct CryptoFailureTests {
  @Test(
    "each failure has its exact sentence with the remedy",
    arguments: [
      (CryptoFailure.keyLength(5), "the key has 5 bytes; use a length that the algorithm accepts"),
      (.nonceLength(5), "the nonce has 5 bytes; use 12 for GCM and 16 for CBC"),
      (.tagLength(5), "the tag has 5 bytes; 16 are needed, a shorter tag is refused"),
      (.inputLength(5), "the input has 5 bytes; use a length that the algorithm accepts"),
      (.authenticationFailed, "authentication failed; discard the message"),
      (.decryptionFailed, "decryption failed; check the authentication code before decrypting"),
      (.parameterOutOfRange(.passes, 0, allowed: 1...64), "passes is 0; use 1 to 64"),
      (.invalidPoint, "not a point of the curve; send it uncompressed (0x04, X, Y)"),
      (.invalidPrivateKey, "not a private key of the curve; use 32 bytes, 1 to the order less one"),
      (.invalidPublicKeyEncoding, "not a public key of this kind in strict DER; export it again"),
      (
        .invalidSignatureEncoding, "not an ECDSA signature in this form; use strict DER or 64 raw bytes"
      ),
      (.rsaModulus(bits: 1024), "the RSA modulus has 1024 bits; use an odd one of 2048 to 8192 bits"),
      (.rsaExponent, "the RSA exponent is unusual; use 65537"),
      (.invalidCertificate, "not a certificate in PEM; check the file"),
      (
        .invalidSubjectName, "not a DNS name or an IP address; check the names for the certificate"
      ),
      (.outOfMemory, "not enough memory; lower the cost or free memory"),
      (.library(function: "f", code: 7), "f failed with code 7; report this as a defect"),
    ])
  func describesItself(_ failure: CryptoFailure, _ text: String) {
    #expect("\(failure)" == text)
  }
}
