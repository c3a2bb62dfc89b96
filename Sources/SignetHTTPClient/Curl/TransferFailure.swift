import CCurl

/// The state of a transfer that libcurl ended with an error.
struct TransferState {
  var requestWasSent: Bool
  var responseHasBegun: Bool
  /// The reason if a callback ended the transfer.
  var refusal: TransportFailure?
  var bodyLimit: Int
  /// OpenSSL's `X509_V_ERR_…`, 0 for none.
  var verifyResult: Int
}

extension TransportFailure {
  /// Translates libcurl's result; this is the only place that does (`libcurl-errors(3)`).
  init(_ code: CURLcode, _ state: TransferState) {
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PROXY,
      CURLE_INTERFACE_FAILED:
      self = .unreachable(code: code.number)
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self = .wrongPin
    case CURLE_PEER_FAILED_VERIFICATION:
      self = .certificateRefused(CertificateProblem(verifyResult: state.verifyResult))
    case CURLE_SSL_CACERT_BADFILE: self = .invalidConfiguration(.certificateAuthorities)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CERTPROBLEM:
      self = .tlsRefused(code: code.number)
    case CURLE_FILESIZE_EXCEEDED: self = .responseTooLarge(limit: state.bodyLimit)
    case CURLE_WRITE_ERROR:
      self = state.refusal ?? .malformedResponse(code: code.number)
    case CURLE_PARTIAL_FILE: self = .incompleteResponse(code: code.number)
    case CURLE_GOT_NOTHING, CURLE_ABORTED_BY_CALLBACK: self = .noResponse(code: code.number)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self.init(broken: code, state)
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      self = .malformedResponse(code: code.number)
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT:
      // If a request was sent, the response is not HTTP/1.x, or a field has no colon.
      self = state.requestWasSent ? .malformedResponse(code: code.number) : .library(code)
    case CURLE_URL_MALFORMAT: self = .invalidRequest(.url)
    default: self = .library(code)
    }
  }

  /// Translates a broken connection, depending on the progress of the exchange.
  private init(broken code: CURLcode, _ state: TransferState) {
    if state.responseHasBegun {
      self = .incompleteResponse(code: code.number)
    } else if state.requestWasSent {
      self = .noResponse(code: code.number)
    } else {
      self = .unreachable(code: code.number)
    }
  }

  private static func library(_ code: CURLcode) -> TransportFailure {
    .libraryFailure(call: "curl_multi_perform", code: code.number)
  }
}

extension CertificateProblem {
  /// Translates OpenSSL's verification result.
  ///
  /// libcurl compares names itself before it copies the result of the chain: after a name mismatch the result is still
  /// libcurl's initial
  /// 1. A chain that fails verification ends the handshake earlier and always sets its own number.
  fileprivate init(verifyResult: Int) {
    switch verifyResult {
    case 0, 1, 62, 63, 64: self = .nameMismatch  // HOSTNAME_, EMAIL_, IP_ADDRESS_MISMATCH
    case 9: self = .notYetValid
    case 10: self = .expired
    case 2, 18, 19, 20, 21, 27: self = .unknownIssuer  // issuer missing, self-signed, or not trusted
    default: self = .other(verifyResult)
    }
  }
}
