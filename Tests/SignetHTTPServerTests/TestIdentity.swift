import SignetHTTPServer

/// A self-signed certificate for localhost and 127.0.0.1, P-256, valid until 2126.
///
/// For these tests only: its key is public.
enum TestIdentity {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBmzCCAUGgAwIBAgIUfhyTKmBgNrQpN4e7Zd/TDtC5EkIwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAzNDEwMloYDzIxMjYxMDI4
    MDM0MTAyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAATqzYlW+QuRCh9x8fUuXEnISNeIQo7/s5vjapen8xtklO+fBHXWXm5V
    nalVdXDzSL6hH85dthp8LDgrSzMGLZ09o28wbTAdBgNVHQ4EFgQULsLcv2VNFgWR
    DGbZyW8tax+AFnswHwYDVR0jBBgwFoAULsLcv2VNFgWRDGbZyW8tax+AFnswDwYD
    VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
    zj0EAwIDSAAwRQIhAN9Ee1GHeAfblaZaFr4O3vG25HZGYoJOgSuhZVKey1jiAiBO
    0LUusaX7TSvDg5gnRH8z6xCBwiVQqi08BK8HlWL2Hg==
    -----END CERTIFICATE-----
    """

  static let privateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9//NxNNCkKyobCas
    obU99005yb2oS3NR9BZAWcVuQGOhRANCAATqzYlW+QuRCh9x8fUuXEnISNeIQo7/
    s5vjapen8xtklO+fBHXWXm5VnalVdXDzSL6hH85dthp8LDgrSzMGLZ09
    -----END PRIVATE KEY-----
    """

  /// A key that belongs to no certificate here.
  static let otherPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMhwIM6jmIr4KyTlZ
    FG+Chlc7DNEJTTcfy7D5z1yDsC2hRANCAASjYhB7N7TmPtBvpX6n9EE64uRxvgvi
    tclMWlVrgJFhydfUcR8EC/HWetrYYBdrFDK8FUjLNIkhlPyYbB7myLga
    -----END PRIVATE KEY-----
    """

  static func make() throws -> TLSIdentity {
    try TLSIdentity(certificateChainPEM: certificate, privateKeyPEM: Array(privateKey.utf8))
  }
}
