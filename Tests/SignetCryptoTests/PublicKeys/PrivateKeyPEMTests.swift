import SignetCrypto
import Testing

/// Keys made by OpenSSL's command line, for these tests only.
@Suite("Private keys in PEM")
struct PrivateKeyPEMTests {
  @Test("a key on P-256 is read from PKCS #8 and from SEC 1", arguments: [pkcs8, sec1])
  func p256(_ pem: String) throws {
    let key = try P256.Signing.PrivateKey(pem: SecretBytes(copying: Array(pem.utf8)))
    #expect(
      Hex.encode(key.rawRepresentation.insecureCopy())
        == "63d2adec064b521e9cde88b037af5787cffaf5853b1365f181bf7c41d2612add")
    let signature = try key.signature(for: [1])
    #expect(key.publicKey.isValidSignature(signature, for: [1]))
  }

  @Test("an RSA key signs what OpenSSL's command line signs")
  func rsa() throws {
    let key = try RSA.PrivateKey(pem: SecretBytes(copying: Array(Self.rsa2048.utf8)))
    let message = Array("signet".utf8)
    let signature = try key.signature(for: message, .sha256)
    #expect(Hex.encode(signature) == Self.rsaSignature)
    let publicKey = try RSA.PublicKey(n: Hex.decode(Self.rsaModulus), e: [1, 0, 1])
    #expect(publicKey.isValidSignature(signature, for: message, padding: .pkcs1(.sha256)))
    let longer = try key.signature(for: message, .sha512)
    #expect(publicKey.isValidSignature(longer, for: message, padding: .pkcs1(.sha512)))
  }

  @Test(
    "keys of other types, encrypted, truncated and malformed keys are refused",
    arguments: [
      p384, encrypted, rsa2048, String(pkcs8.dropLast(60)), "", "-----BEGIN PRIVATE KEY-----\n", "\0",
    ])
  func notP256(_ pem: String) {
    #expect(throws: CryptoFailure.invalidPrivateKey) {
      try P256.Signing.PrivateKey(pem: SecretBytes(copying: Array(pem.utf8)))
    }
  }

  @Test("RSA keys that are too short, and other keys, are refused")
  func notRSA() {
    #expect(throws: CryptoFailure.rsaModulus(bits: 1024)) {
      try RSA.PrivateKey(pem: SecretBytes(copying: Array(Self.rsa1024.utf8)))
    }
    #expect(throws: CryptoFailure.invalidPrivateKey) {
      try RSA.PrivateKey(pem: SecretBytes(copying: Array(Self.pkcs8.utf8)))
    }
    #expect(throws: CryptoFailure.invalidPrivateKey) {
      try RSA.PrivateKey(pem: SecretBytes(copying: [UInt8](repeating: 0x41, count: 65_537)))
    }
  }

  private static let pkcs8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgY9Kt7AZLUh6c3oiw
    N69Xh8/69YU7E2Xxgb98QdJhKt2hRANCAASIJnAsTi2ki2WhhH4hltapNTALBom0
    CWQtOsnpVzRQB4UhzGI5a644K2s5dCCEW+mHCNS3adwXOhL8aBo7ENDF
    -----END PRIVATE KEY-----
    """

  private static let sec1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIGPSrewGS1IenN6IsDevV4fP+vWFOxNl8YG/fEHSYSrdoAoGCCqGSM49
    AwEHoUQDQgAEiCZwLE4tpItloYR+IZbWqTUwCwaJtAlkLTrJ6Vc0UAeFIcxiOWuu
    OCtrOXQghFvphwjUt2ncFzoS/GgaOxDQxQ==
    -----END EC PRIVATE KEY-----
    """

  private static let p384 = """
    -----BEGIN EC PRIVATE KEY-----
    MIGkAgEBBDDOu1E78T5fBXZa3IsT+cvkuU+PsGP4EJUWga3OViMWU4sUrW4UPcQY
    7v8XmglN3wWgBwYFK4EEACKhZANiAATe0bLRpHZlNewjvdVVSZiTBhLZV1kOEvbO
    SrnC1XLZ+2jNN3aoKPyP1fUhj1pIvOUdqXBjJ39yECAJa/fyhkJUJ1NLmv8EwRXK
    iECkey3BU+p5yCxZJnc8g6kqIORuyfw=
    -----END EC PRIVATE KEY-----
    """

  private static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjwQD+q7YMBUAICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMxR/qrjdhxNgtAszfrvw88EgZCP
    gKSPAwhUfurqYU3LIgml3RhYwXbWVnIiTQY4wGzbW6VySKHnBS/CQPAvCZ790wDl
    xAbNMgPjOA3z9K7WL6YWX6ctm4PgKKGG5LJrX8gx3c5sZh6kkpYJAmjfz3fow4Rq
    dYAtl/D2hU1qvV90MN5uWP3Vlu7jw+AROOCMQK/yOqVaWHgncjJLcseBnc35K2U=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  private static let rsa2048 = """
    -----BEGIN PRIVATE KEY-----
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC4+FmSCgRivQdb
    dEW2yTk5sAJHLMepFK7ZrLrhXqfkt74vBYgbdNWLOpPn+sQKYR0puJ06D7S4LSz0
    8OQslO1oibSs7fXXMlsUKgkDeWhGx5rBWfBeZB/JdzuQGpZPPSg3gLNoGdnrpZIy
    ctrA8QJ1DZN7hnMztLOjrEdU4yn8rrNpKgiZI2pUeP5lafl8dMNG/3LZ98aKd6ph
    rdDmdBFn0JSOW/9YpsEkzS3OoaWzbUeWe4ocQuBmL0duURYJg87FfJVzjgoakbQ9
    DzbAQKRZ4E9j0S/xJM7pJi4NlYh46b0U7xla7hPfCvLUBNNf+sxOiTubrj+6l4ER
    cTX///7pAgMBAAECggEAV43q7AdE0y4R5PbRJvfx1/4Z3fHy4nRxXYT3AsXI6CkX
    Y2+VYRW5HQnRyB15nUYhxUVnWvvjOcjcfmbmQroN9I02UiLjWwUxeoZ5NMVLmDFU
    bhByCGQRbc48Cfajzocu2bLYeT6/Wd1KKgoWxPxwAtM1y+M09bUj0SYzr5lFnx6O
    SdQ4A/dYXOEuXAfyrD11MHWnChwp1/0G362pRwDiib/yCJnOJjh3hjjWXBfvEMSw
    EGuoDAD4I/kezchwqzmPeZVNnSiNajtr5Ns8wG5m/23Xn31qgnBCmFcNEw92XQIL
    mUsnat5L+5ojJPT1hUJJlU77+UbIZKxCR1kJsa/SlwKBgQDoNFlk2Xen1qHqp/yc
    y5ST5ND4y7fGGp3pJmEoEuCJZhm4pAhfx1yw2YbFqG8EkUOjv7lVzwQ856zEsn+H
    twNrTHnfg83djZSElIguGsdL3KzZqT7xf6SO+bX+rfEQSmOrh2q7zZoJqWB/Cjwq
    JLqi00yusk9f2uSvleFp8Iv+owKBgQDL7NrCH8Iatyon1Boisi/QAO7iXgHYb8LK
    KLLJZJoCTzVCACOQUSayO3gD3glw0Hdtjdn6xOuFFsJcYsYYBgqr4KdQe4kkhvD/
    FS5LozL/yToefIaVV3qnhaEvHNwugD5GxPRGENLNGyM/fxlrLRl1uVbGJ+vV4W8y
    8jDMyOMhAwKBgQCULgP2BYkEREWjl3vvG0M/db+dZXNrKkUnKeTKS/GZ/NvhJlxp
    srGF8eq9bBUclw7RCmJdTfRoYXexNi+IDdRSvsTvTA8tmVHzoU2eDlysHrD3Xbfb
    KRd8XgIz+hBh0vbz2UDVhAkOrVX0/DUUt8eabLj8qrFYfDl/i2gD0QulfQKBgCdO
    R/wS0v8DPwTeRQta/QxCocjQBdsJ76m3nn5i/axkSAeorzIp8iN4gvF74qX0CJD9
    Pn6vZhYJBP15rGUFBRmL+7Pvm8eGmv0PwBSkKDhVOPaXWfl/Gw0fHKpQDcCIx3gs
    jkjTBU6zZF/gx614y+d9CdS37SUUhrJzLCTMs7qxAoGBAK0iiop/jcs53sCSTbEC
    H8TmnYRiBSXWr1qsZ9AKFqlBLFolL6zLvPQD3IBt/zhklWlr6rFomLqgD2yaTP6t
    zgye8q8BuS0fztxchT9k0nw6DzEeiH0nrpZlzK4N3rumv85WbmTkNQ3tG7kWf1Eo
    a7zqkOvUbztKIicb/3eyZTZG
    -----END PRIVATE KEY-----
    """

  private static let rsa1024 = """
    -----BEGIN PRIVATE KEY-----
    MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMOXgHS8PnsEcy15
    By1UzslprrCDgpVD8daSPRO1ewFBn8Njzjw28ToOlWKUzYN+l0OooC7WXwKRqITU
    m0KR1PayU924iwBJHrvRKV/+q8A1EIGpKpLdD14BM8uLstjOalKiNhAEB9ys9+Fd
    zNZH9qRcn8oHwoUQH5vWaMrLk8utAgMBAAECgYEAiwP/NPkmn2DGTCedRkbkwpru
    ol6WTWkBVjSSXJO8XWQ7HTCuwHV8dnsvCeYhO7iZ4mjTkPakiLrmP6Ksx1/HMGAf
    zW4rUHMExxl5jOhbfC3oSIecuM7TZIXq4P4KFtca5QaqquQJFGCRXIioO2CI/mDL
    yg9pSr0A0HIZHa/yujECQQD4/hRck1SmOLthtgIfYNa2ELS4IUL4PKSrRx1acqdp
    gGthOCX1+K1Ud8FDcu18L/fVNs5bZIawOL5ZjTVSTp9LAkEAyRivc54pFZpBmsbk
    P322o+KjBOy7IfsLregR4iLzJt2+4hypMC2brBhKWC/l+lXhspibJbh9GRKmEqVf
    kFnN5wJBAJvStn9xHIqh+nKd6xokCnsKXW7WMgkUOqGN8crG8gpOeeTvtKIIrMCt
    6V8Cr6kGg/0FPYNol/n0qPt2KaaG2Z0CQQDBPPdcIp9YIuLn2Dd8y1C2KxJ7qQAp
    pxOSCW8l3m/I6UyD+waZRTpSJQVLuLtF00EOXZa4qI+NiF4NjNxH2gQBAkB72lAE
    J3W6Xx/wXtglmSngCZGKjjo6MCeRJGvfsh5FbwBpCKK4XCU+ame8E5hvVW0kgOcK
    D3kRX7ZviDH2GCpl
    -----END PRIVATE KEY-----
    """

  private static let rsaSignature =
    "b0799af1915ec91e90a2ac1b0c6785d3a1ac9c8de43e63470370e9db11e7915494a84cec3f423aea8ecb98f9dcf350da"
    + "64d5ff2bceeac43444676368bc7793ce6c0febf0133b16f1a68340a3f96d22c79db54b16f25a6c26570ae383be8514d0"
    + "fcf2caaed831bb9fb5df0895b5e1b9f47cbc459fcff09e2ddf6cc95f769865367ee905a581c4daeae8188751a2985c73"
    + "80f8f27b7e9d4b477dc9fd4905214132102c38e9609681c315f5921825e585f5567c1b63e1f087c65065107406a22343"
    + "d8f635e6f5facc78f92f0f2120e38125dbeb55c754aefa262001ddf905fb17e765a80359bdfe0c1a584b0f12fa97a8e5"
    + "769c157a53c2fc9a05fa5aa03f9a1c94"

  private static let rsaModulus =
    "b8f859920a0462bd075b7445b6c93939b002472cc7a914aed9acbae15ea7e4b7be2f05881b74d58b3a93e7fac40a611d"
    + "29b89d3a0fb4b82d2cf4f0e42c94ed6889b4acedf5d7325b142a0903796846c79ac159f05e641fc9773b901a964f3d28"
    + "3780b36819d9eba5923272dac0f102750d937b867333b4b3a3ac4754e329fcaeb3692a0899236a5478fe6569f97c74c3"
    + "46ff72d9f7c68a77aa61add0e6741167d0948e5bff58a6c124cd2dcea1a5b36d47967b8a1c42e0662f476e51160983ce"
    + "c57c95738e0a1a91b43d0f36c040a459e04f63d12ff124cee9262e0d958878e9bd14ef195aee13df0af2d404d35ffacc"
    + "4e893b9bae3fba9781117135fffffee9"
}
