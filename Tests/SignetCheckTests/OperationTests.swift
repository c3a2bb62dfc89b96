import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

@Suite("The operations of signet-check", .timeLimit(.minutes(10)))
struct OperationTests {
  @Test(
    "answers",
    arguments: [
      (["op": "base32-decode", "text": " mzxw6ytb= "], ["bytesHex": "666f6f6261"]),
      (["op": "base32-decode", "text": "MZXW6===", "mode": "Strict"], ["bytesHex": "666f6f"]),
      (["op": "base32-decode", "text": "mz xw-6", "mode": "transcribed"], ["bytesHex": "666f6f"]),
      (["op": "base32-encode", "bytesHex": "666F6F"], ["text": "MZXW6"]),
      (
        [
          "op": "hotp", "secretHex": "3132333435363738393031323334353637383930", "algorithm": "sha1",
          "digits": 6,
          "counter": 9,
        ], ["code": "520489"]
      ),
      (
        [
          "op": "hotp", "secretHex": "3132333435363738393031323334353637383930", "counter": "7", "digits": 10,
        ],
        ["code": "0082162583"]
      ),
      (
        [
          "op": "totp", "secretHex": "3132333435363738393031323334353637383930", "algorithm": "SHA1",
          "digits": 8,
          "period": 30, "unixTime": 1_111_111_109, "ignored": [1],
        ],
        ["code": "07081804", "counter": 37_037_036, "validFrom": 1_111_111_080, "validUntil": 1_111_111_110]
      ),
      (
        [
          "op": "hotp", "secretHex": "3132333435363738393031323334353637383930", "algorithm": "SHA224",
          "digits": 8, "counter": 12,
        ], ["code": "35926792"]
      ),
      (
        [
          "op": "hotp", "secretHex": "3132333435363738393031323334353637383930", "algorithm": "sha384",
          "digits": 8, "counter": "9223372036854775808",
        ], ["code": "54178722"]
      ),
      (
        ["op": "totp", "secretHex": "3132333435363738393031323334353637383930", "unixTime": 159, "t0": 100],
        ["code": "287082", "counter": 1, "validFrom": 130, "validUntil": 160]
      ),
      (
        ["op": "uri-parse", "uri": "otpauth://HOTP/Acme:a%20b?secret=mzxw6ytb&counter=7&x=y"],
        [
          "scheme": "otpauth", "type": "hotp", "issuer": "Acme", "account": "a b", "secretHex": "666f6f6261",
          "algorithm": "SHA1", "digits": 6, "counter": 7, "others": [["name": "x", "value": "y"]],
        ]
      ),
      (
        [
          "op": "uri-format", "issuer": "A:B", "account": "c", "secretHex": "666f6f6261",
          "algorithm": "sha512",
          "period": 60, "backgroundColor": "#fff",
        ],
        [
          "uri":
            "otpauth://totp/A%3AB:c?secret=MZXW6YTB&algorithm=SHA512&period=60&issuer=A%3AB&b=fff"
        ]
      ),
      (
        [
          "op": "uri-parse",
          "uri": "pushauth://push/n?r=aHR0cHM6Ly9h&a=aHR0cHM6Ly9i&s=AQI&c=_w&m=id&l=YQ&issuer=QWNtZQ&d=dQ",
        ],
        [
          "scheme": "pushauth", "type": "push", "issuer": "Acme", "account": "n", "userId": "u",
          "push": [
            "registrationEndpoint": "https://a", "authenticationEndpoint": "https://b",
            "sharedSecretHex": "0102",
            "challengeHex": "ff", "loadBalancer": "a", "messageId": "id", "userId": "u",
          ],
        ]
      ),
      // RFC 4231 section 4.3.
      (
        [
          "op": "push-response", "challengeB64": "d2hhdCBkbyB5YSB3YW50IGZvciBub3RoaW5nPw",
          "secretB64": "SmVmZQ==",
        ],
        ["responseB64": "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM"]
      ),
      (
        [
          "op": "ocra", "suite": "OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1", "counter": 9, "pin": "1234",
          "keyHex": "3132333435363738393031323334353637383930313233343536373839303132",
          "question": "12345678",
          "unixTime": 5,
        ], ["response": "08522129"]
      ),
      (
        [
          "op": "ocra", "suite": "OCRA-1:HOTP-SHA256-8:QA08", "question": "SRV11110CLI22220",
          "keyHex": "3132333435363738393031323334353637383930313233343536373839303132",
        ], ["response": "15510767"]
      ),
      (
        [
          "op": "jwk",
          "jwk": [
            "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
            "n": .string(
              "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCi"
                + "FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgn"
                + "Yb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqb"
                + "w0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"),
          ],
        ], ["kty": "RSA", "thumbprintB64": "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"]
      ),
      (
        [
          "op": "jws-verify", "algorithms": ["es256"],
          "jwk": [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
          ],
          "jws": .string(
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb"
              + "290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
          ),
        ],
        [
          "payloadB64": .string(
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"),
          "header": ["alg": "ES256"],
        ]
      ),
      (
        [
          "op": "jwe-decrypt", "jwk": ["kty": "oct", "k": "GawgguFyGrWKav7AX4VKUg"],
          "jwe": .string(
            "eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0.6KB707dM9YTIgHtLvtgWQ8mKwboJW3of9locizkDTHzBC2Ilr"
              + "T1oOQ.AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY.U0m_YmjN04DJvceFICbCVQ"
          ),
        ],
        [
          "plaintextB64": "TGl2ZSBsb25nIGFuZCBwcm9zcGVyLg",
          "header": ["alg": "A128KW", "enc": "A128CBC-HS256"],
        ]
      ),
    ] as [(JSONObject, JSONObject)])
  func answers(request: JSONObject, ok: JSONObject) throws {
    let answer = try CheckTool.answer(to: request)
    #expect(answer.ok == ok, "\(answer.text)")
  }

  @Test(
    "refusals",
    arguments: [
      (["op": "base32-decode"], "input.missing"), (["op": "base32-decode", "text": 1], "input.invalid"),
      (["op": "base32-decode", "text": "A", "mode": "lax"], "input.invalid"),
      (["op": "base32-decode", "text": "A1"], "base32.symbol"),
      (["op": "base32-decode", "text": "M=Z"], "base32.padding"),
      (["op": "base32-decode", "text": "MZXW6", "mode": "strict"], "base32.length"),
      (["op": "base32-decode", "text": "", "mode": "strict"], "base32.empty"),
      (["op": "base32-decode", "text": .string(String(repeating: "A", count: 10_000))], "base32.tooLong"),
      (["op": "base32-encode", "bytesHex": "0"], "input.invalid"),
      (["op": "base32-encode", "bytesHex": "0x"], "input.invalid"),
      (["op": "hotp", "secretHex": "", "counter": 0], "oath.secret"),
      (["op": "hotp", "secretHex": "00"], "input.missing"),
      (["op": "hotp", "secretHex": "00", "counter": -1], "input.invalid"),
      (["op": "hotp", "secretHex": "00", "counter": 1.5], "input.invalid"),
      (["op": "hotp", "secretHex": "00", "counter": "18446744073709551616"], "input.invalid"),
      (["op": "hotp", "secretHex": "00", "counter": ""], "input.invalid"),
      (["op": "hotp", "secretHex": "00", "counter": "+1"], "input.invalid"),
      (["op": "hotp", "secretHex": "00", "counter": 0, "digits": 5], "oath.digits"),
      (["op": "hotp", "secretHex": "00", "counter": 0, "digits": 11], "oath.digits"),
      (["op": "hotp", "secretHex": "00", "counter": 0, "algorithm": "MD5"], "input.invalid"),
      (["op": "totp", "secretHex": "00", "unixTime": 0, "period": 0], "oath.period"),
      (["op": "ocra", "suite": "OCRA-1", "keyHex": "00", "question": "1"], "ocra.suite"),
      (["op": "ocra", "suite": "OCRA-1:HOTP-SHA1-6:QN08", "keyHex": "", "question": "1"], "oath.secret"),
      (
        ["op": "ocra", "suite": "OCRA-1:HOTP-SHA1-6:QN08", "keyHex": "00", "question": "x"],
        "ocra.challengeFormat"
      ),
      (
        ["op": "ocra", "suite": "OCRA-1:HOTP-SHA1-6:QN08", "keyHex": "00", "question": "123456789"],
        "ocra.challengeTooLong"
      ),
      (
        ["op": "ocra", "suite": "OCRA-1:HOTP-SHA1-6:C-QN08", "keyHex": "00", "question": "1"], "input.missing"
      ),
      (["op": "totp", "secretHex": "00", "unixTime": -1], "oath.time"),
      (
        ["op": "totp", "secretHex": "00", "unixTime": 9_223_372_036_854_775_807, "t0": 0, "period": -1],
        "oath.period"
      ),
      (["op": "jwk", "jwk": [:]], "jwk.malformed"), (["op": "jwk", "jwk": "x"], "input.invalid"),
      (["op": "jwk", "jwk": ["kty": "OKP"]], "jwk.unsupported"),
      (
        [
          "op": "jwk",
          "jwk": [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
          ],
        ], "jwk.invalid"
      ),
      (["op": "jws-verify", "jws": "a.b", "jwk": [:]], "jose.malformed"),
      (["op": "jwe-decrypt", "jwe": "a.b", "jwk": [:]], "jose.malformed"),
      (["op": "ecdh", "publicHex": "04", "encoding": "point", "privateHex": "01"], "key.public"),
      (["op": "ecdh", "publicHex": "30", "encoding": "spki", "privateHex": "01"], "key.public"),
      (["op": "ecdh", "publicHex": "30", "encoding": "pem", "privateHex": "01"], "input.invalid"),
      (["op": "ecdh", "publicHex": "30", "privateHex": "01"], "input.missing"),
      (["op": "ecdsa-verify", "publicHex": "30", "encoding": "spki"], "key.public"),
      (["op": "ecdsa-verify", "publicHex": "30", "encoding": "spki", "curve": "P-384"], "input.invalid"),
    ] as [(JSONObject, String)])
  func refusals(request: JSONObject, code: String) throws {
    let answer = try CheckTool.answer(to: request)
    #expect(answer.errorCode == code, "\(answer.text)")
    #expect(answer.ok == nil)
  }

  @Test("a JWE is decrypted by a key, or by the one of a set that its header names, and not by another")
  func encrypted() throws {
    let scalars: [[UInt8]] = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
    let jwks = try scalars.enumerated().map { index, scalar -> JSONObject in
      let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: scalar)).publicKey
      return [
        "kty": "EC", "crv": "P-256", "kid": .string("k\(index)"), "x": .string(Base64URL.encode(key.x)),
        "y": .string(Base64URL.encode(key.y)), "d": .string(Base64URL.encode(scalar)),
      ]
    }
    let encryptionKey = try EncryptionKey(try JWK(jwks[0]))
    let jwe = JSONValue.string(try JWE.encrypt([1, 2, 3], for: encryptionKey))
    let set = JSONValue.object(["keys": .array(jwks.map { .object($0) })])
    let answers = try CheckTool.answers(to: [
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": .object(jwks[0])],
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": .object(jwks[1])],
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": .object(jwks[0]), "contentAlgorithms": ["A128GCM"]],
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": .object(jwks[0]), "keyAlgorithms": ["dir", "RSA1_5"]],
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": .object(jwks[0]), "keyAlgorithms": "ECDH-ES"],
      ["op": "jwe-decrypt", "jwe": jwe, "jwk": set],
    ])
    #expect(
      answers.map { $0.ok?["plaintextB64"] ?? $0.errorCode.map { .string($0) } } == [
        "AQID", "jwe.decryption", "jose.algorithm", "jose.algorithm", "input.invalid", "AQID",
      ])
  }

  @Test("a JWS is verified by a set too, only with what is allowed, and not when changed")
  func signed() throws {
    let secret = [UInt8](repeating: 7, count: 32)
    let key = try SigningKey(hmac: SecretBytes(copying: secret), keyID: "k1")
    let jws = try JWS.sign([1, 2, 3], with: key)
    let jwk: JSONObject = ["kty": "oct", "kid": "k1", "k": .string(Base64URL.encode(secret))]
    let other: JSONObject = ["kty": "oct", "kid": "k2", "k": .string(Base64URL.encode(secret))]
    let unsigned = jws.prefix { $0 != "." } + ".AQIE." + jws.split(separator: ".")[2]
    let answers = try CheckTool.answers(to: [
      ["op": "jws-verify", "jws": .string(jws), "jwk": .object(jwk)],
      ["op": "jws-verify", "jws": .string(jws), "jwk": ["keys": .array([.object(other), .object(jwk)])]],
      ["op": "jws-verify", "jws": .string(jws), "jwk": ["keys": .array([.object(other)])]],
      ["op": "jws-verify", "jws": .string(String(unsigned)), "jwk": .object(jwk)],
      ["op": "jws-verify", "jws": .string(jws), "jwk": .object(jwk), "algorithms": ["ES256", "none"]],
      ["op": "jws-verify", "jws": .string(jws), "jwk": .object(jwk), "algorithms": []],
    ])
    #expect(
      answers.map { $0.ok?["payloadB64"] ?? $0.errorCode.map { .string($0) } } == [
        "AQID", "AQID", "jwk.notFound", "jws.signature", "jose.algorithm", "jose.algorithm",
      ])
  }
}
