import COpenSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An X.509 certificate with shared ownership.
@safe final class Certificate: @unchecked Sendable {  // immutable after init
  let raw: OpaquePointer

  init(owning raw: OpaquePointer) {
    unsafe self.raw = raw
  }

  /// Parses the first certificate of a text of at most 64 KiB.
  ///
  /// The corresponding C function is `PEM_read_bio_X509`.
  init(pem: String) throws(CryptoFailure) {
    let text = Array(pem.utf8)
    guard text.count <= 65_536 else { throw .invalidCertificate }
    let result: OpaquePointer? = unsafe text.withUnsafeBytes { text in
      guard let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else { return nil }
      defer { unsafe BIO_free(source) }
      return unsafe PEM_read_bio_X509(source, nil, nil, nil)
    }
    guard let result = unsafe result else {
      OpenSSLCall.forgetErrors()
      throw .invalidCertificate
    }
    unsafe raw = result
  }

  /// Parses all certificates of a text of at most 64 KiB, in their order; other blocks are skipped.
  ///
  /// The corresponding C function is `PEM_read_bio_X509`.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` if there is none, or one is malformed.
  static func all(inPEM pem: String) throws(CryptoFailure) -> [Certificate] {
    let text = Array(pem.utf8)
    guard text.count <= 65_536 else { throw .invalidCertificate }
    var certificates: [Certificate] = []
    let isAtEnd = unsafe text.withUnsafeBytes { text in
      guard let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else { return false }
      defer { unsafe BIO_free(source) }
      while let raw = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
        certificates.append(unsafe Certificate(owning: raw))
      }
      return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    }
    OpenSSLCall.forgetErrors()
    guard isAtEnd, !certificates.isEmpty else { throw .invalidCertificate }
    return certificates
  }

  /// Parses a DER certificate of at most 64 KiB without trailing bytes.
  ///
  /// The corresponding C function is `d2i_X509`.
  init(der: [UInt8]) throws(CryptoFailure) {
    guard der.count <= 65_536 else { throw .invalidCertificate }
    var consumed = 0
    let result: OpaquePointer? = unsafe der.withUnsafeBytes { der in
      let start = unsafe der.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var cursor = unsafe start
      let result = unsafe d2i_X509(nil, &cursor, der.count)
      if let start = unsafe start, let cursor = unsafe cursor { consumed = unsafe cursor - start }
      return unsafe result
    }
    guard let result = unsafe result, consumed == der.count else {
      unsafe X509_free(result)
      OpenSSLCall.forgetErrors()
      throw .invalidCertificate
    }
    unsafe raw = result
  }

  deinit { unsafe X509_free(raw) }

  /// Returns this certificate in PEM.
  ///
  /// The corresponding C function is `PEM_write_bio_X509`.
  func pem() throws(CryptoFailure) -> String {
    let text = try unsafe PEMText.write("PEM_write_bio_X509") { unsafe PEM_write_bio_X509($0, raw) }
    return String(decoding: text.insecureCopy(), as: UTF8.self)  // a certificate is public
  }

  /// Indicates whether the key may sign, or the certificate has no key usage extension (RFC 5280 section 4.2.1.3).
  ///
  /// The corresponding C function is `X509_get_key_usage`.
  var isForSignatures: Bool {
    unsafe X509_get_key_usage(raw) & UInt32(KU_DIGITAL_SIGNATURE) != 0
  }

  /// Indicates whether the certificate may issue others (RFC 5280 sections 4.2.1.3 and 4.2.1.9).
  ///
  /// The corresponding C functions are `X509_get_extension_flags` and `X509_get_key_usage`.
  var isAuthority: Bool {
    let flags = unsafe X509_get_extension_flags(raw)
    let mayIssue = unsafe X509_get_key_usage(raw) & UInt32(KU_KEY_CERT_SIGN) != 0
    return flags & UInt32(EXFLAG_CA) != 0 || flags & UInt32(EXFLAG_KUSAGE) != 0 && mayIssue
  }

  /// The first second of validity, since 1970.
  ///
  /// The corresponding C function is `X509_get0_notBefore`.
  var start: Int64 {
    get throws(CryptoFailure) { try unsafe Self.unixTime(X509_get0_notBefore(raw)) }
  }

  /// The last second of validity, since 1970.
  ///
  /// The corresponding C function is `X509_get0_notAfter`.
  var end: Int64 {
    get throws(CryptoFailure) { try unsafe Self.unixTime(X509_get0_notAfter(raw)) }
  }

  private static func unixTime(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptoFailure) -> Int64 {
    var parts = unsafe tm()
    try OpenSSLCall.check(unsafe ASN1_TIME_to_tm(time, &parts), "ASN1_TIME_to_tm")
    return Int64(unsafe timegm(&parts))
  }

  /// The first common name of the subject; `nil` if there is none in UTF-8 or ASCII.
  ///
  /// The corresponding C functions are `X509_NAME_get_index_by_NID` and `X509_NAME_ENTRY_get_data`.
  var commonName: String? {
    let name = unsafe X509_get_subject_name(raw)
    let index = unsafe X509_NAME_get_index_by_NID(name, NID_commonName, -1)
    guard index >= 0 else { return nil }
    let data = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index))
    let bytes = unsafe UnsafeBufferPointer(
      start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
    return unsafe String(validating: Array(bytes), as: UTF8.self)
  }

  /// Returns the contents of the extensions with an object identifier, which is numbers with dots between them.
  ///
  /// The corresponding C functions are `X509_get_ext_by_OBJ` and `X509_EXTENSION_get_data`.
  func extensions(_ identifier: String) throws(CryptoFailure) -> [[UInt8]] {
    guard let object = unsafe OBJ_txt2obj(identifier, 1) else { throw .outOfMemory }
    defer { unsafe ASN1_OBJECT_free(object) }
    var contents: [[UInt8]] = []
    var index = unsafe X509_get_ext_by_OBJ(raw, object, -1)
    while index >= 0 {
      let data = unsafe X509_EXTENSION_get_data(X509_get_ext(raw, index))
      let bytes = unsafe UnsafeBufferPointer(
        start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
      contents.append(unsafe Array(bytes))
      index = unsafe X509_get_ext_by_OBJ(raw, object, index)
    }
    return contents
  }

  /// Returns the SubjectPublicKeyInfo in DER.
  ///
  /// The corresponding C function is `i2d_X509_PUBKEY`.
  func subjectPublicKeyInfo() throws(CryptoFailure) -> [UInt8] {
    let info = unsafe X509_get_X509_PUBKEY(raw)
    let count = unsafe i2d_X509_PUBKEY(info, nil)
    guard count > 0 else { throw OpenSSLCall.failure("i2d_X509_PUBKEY") }
    return try unsafe byteArray(count: Int(count)) { (buffer) throws(CryptoFailure) in
      var cursor = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard unsafe i2d_X509_PUBKEY(info, &cursor) == count else {
        throw OpenSSLCall.failure("i2d_X509_PUBKEY")
      }
    }
  }
}

/// PEM output of OpenSSL.
enum PEMText {
  /// Encodes a private key as PKCS #8.
  ///
  /// The corresponding C function is `PEM_write_bio_PKCS8PrivateKey`.
  static func privateKey(_ key: KeyHandle) throws(CryptoFailure) -> SecretBytes {
    try unsafe write("PEM_write_bio_PKCS8PrivateKey") {
      unsafe PEM_write_bio_PKCS8PrivateKey($0, key.raw, nil, nil, 0, nil, nil)
    }
  }

  /// Returns the output of `body`, which writes to a buffer that OpenSSL wipes.
  static func write(
    _ function: String, _ body: (OpaquePointer) -> Int32
  ) throws(CryptoFailure) -> SecretBytes {
    guard let sink = unsafe BIO_new(BIO_s_secmem()) else { throw .outOfMemory }
    defer { unsafe BIO_free(sink) }
    try OpenSSLCall.check(unsafe body(sink), function)
    return try unsafe SecretBytes(
      byteCount: BIO_ctrl_pending(sink),
      writing: { (buffer) throws(CryptoFailure) in
        let count = unsafe BIO_read(sink, buffer.baseAddress, Int32(buffer.count))
        guard Int(count) == buffer.count else { throw OpenSSLCall.failure("BIO_read") }
      })
  }
}

/// A builder of a certificate (X.509 version 3) before it is signed.
@safe struct CertificateBuilder: ~Copyable {
  /// The extensions that this module writes.
  enum Extension {
    case basicConstraints
    case keyUsage
    case extendedKeyUsage
    case subjectAlternativeName
    case subjectKeyIdentifier
    case authorityKeyIdentifier

    fileprivate var nid: Int32 {
      switch self {
      case .basicConstraints: NID_basic_constraints
      case .keyUsage: NID_key_usage
      case .extendedKeyUsage: NID_ext_key_usage
      case .subjectAlternativeName: NID_subject_alt_name
      case .subjectKeyIdentifier: NID_subject_key_identifier
      case .authorityKeyIdentifier: NID_authority_key_identifier
      }
    }
  }

  private let draft: Certificate
  private var issuer: Certificate

  /// Starts a certificate for `subjectKey` with a random serial number.
  init(subjectKey: KeyHandle, commonName: String) throws(CryptoFailure) {
    guard (1...64).contains(commonName.utf8.count), !commonName.utf8.contains(0) else {
      throw .invalidSubjectName
    }
    draft = try Self.makeDraft(subjectKey, commonName)
    issuer = draft
  }

  private static func makeDraft(
    _ subjectKey: KeyHandle, _ commonName: String
  ) throws(CryptoFailure) -> Certificate {
    guard let raw = unsafe X509_new() else { throw .outOfMemory }
    let draft = unsafe Certificate(owning: raw)
    try OpenSSLCall.check(unsafe X509_set_version(raw, Int(X509_VERSION_3)), "X509_set_version")
    try setRandomSerial(draft)
    let name = unsafe X509_get_subject_name(raw)
    let result = unsafe X509_NAME_add_entry_by_NID(
      name, NID_commonName, MBSTRING_UTF8, Array(commonName.utf8), Int32(commonName.utf8.count), -1, 0)
    try OpenSSLCall.check(result, "X509_NAME_add_entry_by_NID")
    try OpenSSLCall.check(unsafe X509_set_pubkey(raw, subjectKey.raw), "X509_set_pubkey")
    return draft
  }

  /// Sets a serial number of 127 random bits: the most for a positive number of 16 bytes (RFC 5280 section 4.1.2.2 allows
  /// 20).
  private static func setRandomSerial(_ certificate: Certificate) throws(CryptoFailure) {
    var bytes = SecureRandom.bytes(16)
    bytes[0] &= 0x7F
    guard let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw .outOfMemory }
    defer { unsafe BN_free(number) }
    let serial = unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.raw))
    guard unsafe serial != nil else { throw OpenSSLCall.failure("BN_to_ASN1_INTEGER") }
  }

  /// Sets the first and the last second of validity, since 1970.
  mutating func setValidity(from start: Int64, until end: Int64) throws(CryptoFailure) {
    guard unsafe ASN1_TIME_set(X509_getm_notBefore(draft.raw), Int(start)) != nil,
      unsafe ASN1_TIME_set(X509_getm_notAfter(draft.raw), Int(end)) != nil
    else { throw OpenSSLCall.failure("ASN1_TIME_set") }
  }

  /// Sets the issuer; `nil` for a self-signed certificate.
  ///
  /// Call it before adding extensions that depend on the issuer.
  mutating func setIssuer(_ certificate: Certificate?) throws(CryptoFailure) {
    issuer = certificate ?? draft
    let result = unsafe X509_set_issuer_name(draft.raw, X509_get_subject_name(issuer.raw))
    try OpenSSLCall.check(result, "X509_set_issuer_name")
  }

  /// Adds an extension in OpenSSL's notation; all parts of `value` must be validated, because OpenSSL parses it.
  mutating func add(_ kind: Extension, _ value: String) throws(CryptoFailure) {
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, issuer.raw, draft.raw, nil, nil, 0)
    guard let x509Extension = unsafe X509V3_EXT_conf_nid(nil, &context, kind.nid, value) else {
      throw OpenSSLCall.failure("X509V3_EXT_conf_nid")
    }
    defer { unsafe X509_EXTENSION_free(x509Extension) }
    try OpenSSLCall.check(unsafe X509_add_ext(draft.raw, x509Extension, -1), "X509_add_ext")
  }

  /// Signs with SHA-256.
  consuming func sign(with key: KeyHandle) throws(CryptoFailure) -> Certificate {
    let byteCount = unsafe X509_sign(draft.raw, key.raw, HashFunction.sha256.algorithm.raw)
    guard byteCount > 0 else { throw OpenSSLCall.failure("X509_sign") }
    return draft
  }
}
