/// Why an exchange with a server failed.
///
/// `code` is the number from the underlying library (libcurl's `CURLcode`), for reports; decide on the case.
@nonexhaustive public enum TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The URL is not `https`; nothing was sent.
  case insecureURL
  /// The request cannot be sent safely; nothing was sent.
  case invalidRequest(RequestProblem)
  /// A setting is out of range; nothing was sent.
  case invalidConfiguration(ConfigurationProblem)
  /// The name was not found, or nothing accepted the connection; nothing was sent.
  case unreachable(code: Int32)
  /// The time limit passed; the server may have processed the request.
  case timedOut
  /// The server's key matches none of the pins; nothing was sent.
  case wrongPin
  /// The server's certificate was rejected; nothing was sent.
  case certificateRefused(CertificateProblem)
  /// The TLS handshake failed: no common version or cipher suite, or the server closed the connection.
  case tlsRefused(code: Int32)
  /// The server answered with a redirect, which is never followed.
  case redirectRefused(status: Int)
  /// The body exceeds the limit.
  case responseTooLarge(limit: Int)
  /// The header section exceeds the limit.
  case headersTooLarge(limit: Int)
  /// The connection ended in the middle of the response.
  case incompleteResponse(code: Int32)
  /// The response is not valid HTTP.
  case malformedResponse(code: Int32)
  /// The connection ended before any response; the server may have processed the request.
  case noResponse(code: Int32)
  /// The task was cancelled; the server may have processed the request.
  case cancelled
  /// The library or the system failed unexpectedly.
  case libraryFailure(call: String, code: Int32)

  /// The cause and the remedy; never a URL, a header or content.
  public var description: String {
    switch self {
    case .insecureURL: "only https is supported; use a URL that begins with https://"
    case .invalidRequest(let problem): "the request was not sent: \(problem)"
    case .invalidConfiguration(let problem): "the connection settings are not usable: \(problem)"
    case .unreachable(6): "the server's name was not found; check the name and the network"
    case .unreachable(5), .unreachable(97): "the proxy cannot be reached; check its address"
    case .unreachable: "the server cannot be reached; check the address and the network, then try again"
    case .timedOut:
      "the server did not answer in time; check whether the server carried out the request before repeating it"
    case .wrongPin:
      "the server's key is not one of the pinned keys; update the pins if the server's key was changed, "
        + "otherwise somebody intercepts the connection"
    case .certificateRefused(let problem): "the server's certificate was refused: \(problem)"
    case .tlsRefused(let code):
      "TLS handshake failed (code \(code)); the server must offer TLS 1.2 or newer with an "
        + "ECDHE and AES-GCM or ChaCha20-Poly1305 cipher suite"
    case .redirectRefused(let status):
      "the server answered with a redirect (\(status)), which is not followed; use the final URL"
    case .responseTooLarge(let limit):
      "the answer is larger than \(limit) bytes; raise the limit if that size is expected"
    case .headersTooLarge(let limit): "the answer's headers are larger than \(limit) bytes; check the server"
    case .incompleteResponse(let code):
      "the answer was cut short (code \(code)); check whether the server carried out the request before repeating it"
    case .malformedResponse(let code): "the response is not HTTP (code \(code)); check the port"
    case .noResponse(let code):
      "the connection ended without an answer (code \(code)); check whether the server carried out the "
        + "request before repeating it"
    case .cancelled: "the request was cancelled"
    case .libraryFailure(let call, let code): "\(call) failed with code \(code); report this"
    }
  }
}

/// The error in a request.
@nonexhaustive public enum RequestProblem: Hashable, Sendable, CustomStringConvertible {
  /// The URL is not an absolute URL in printable ASCII of at most 2048 bytes.
  case url
  /// The URL names a user, which would be sent to the server in clear text.
  case userInformation
  /// A field's name is not a token (RFC 9110 section 5.6.2).
  case headerName
  /// A field's value has control or non-ASCII characters, or surrounding white space.
  case headerValue
  /// The transport writes this field itself; two of them could be read in two ways.
  case reservedHeader
  /// `GET` and `HEAD` carry no content.
  case unexpectedBody

  /// The remedy.
  public var description: String {
    switch self {
    case .url: "the URL must be absolute, printable ASCII without a fragment, at most 2048 bytes"
    case .userInformation: "the URL must not name a user"
    case .headerName: "a header's name may have letters, digits and !#$%&'*+-.^_`|~ only"
    case .headerValue: "a header's value must be printable ASCII on one line, at most 8192 bytes"
    case .reservedHeader:
      "leave out headers that frame the message or carry cookies; they are not the caller's"
    case .unexpectedBody: "GET and HEAD carry no content; use POST"
    }
  }
}

/// The invalid setting.
@nonexhaustive public enum ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
  /// The time limit is out of range.
  case timeout
  /// The number of retries is out of range.
  case retries
  /// A pin does not have 32 bytes.
  case pins
  /// No certificate could be read from the PEM text.
  case certificateAuthorities
  /// A size or connection limit is out of range.
  case limits
  /// The proxy is not `http://host:port`.
  case proxy
  /// The address to connect to is not numeric, or has no port.
  case connectAddress

  /// The remedy.
  public var description: String {
    switch self {
    case .timeout: "use a time limit of 0 (none) to 86400 seconds"
    case .retries: "use 0 to 10 retries"
    case .pins: "each pin is the SHA-256 of a public key, 32 bytes"
    case .certificateAuthorities: "give the trusted certificates as PEM, at least one, at most 1 MiB"
    case .limits: "use sizes of 0 or more bytes (headers: 1 or more) and 1 to 256 connections"
    case .proxy: "give the proxy as http://host:port"
    case .connectAddress: "connect to a numeric address and a port of 1 to 65535"
    }
  }
}

/// Why a certificate was rejected.
@nonexhaustive public enum CertificateProblem: Hashable, Sendable, CustomStringConvertible {
  /// The certificate is valid for another name.
  case nameMismatch
  /// No trusted certificate authority issued it.
  case unknownIssuer
  /// The certificate has expired.
  case expired
  /// The certificate is not valid yet.
  case notYetValid
  /// Another reason; OpenSSL's `X509_V_ERR_…` number (`openssl-verification-options(1)`).
  case other(Int)

  /// The remedy.
  public var description: String {
    switch self {
    case .nameMismatch: "it is for another name; check the server's address"
    case .unknownIssuer: "its issuer is not trusted; check the trusted certificates"
    case .expired: "it has expired; check this device's clock, then ask the operator to renew it"
    case .notYetValid: "it is not valid yet; check this device's clock"
    case .other(let result): "verification result \(result); ask the operator to check the chain"
    }
  }
}
