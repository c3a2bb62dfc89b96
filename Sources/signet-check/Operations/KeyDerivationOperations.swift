import SignetCrypto
import SignetJSON

/// HKDF (RFC 5869).
let keyDerivationOperations = [
  Operation(name: "hkdf") { request in
    let hashes: [String: HashFunction] = [
      "sha1": .sha1, "sha224": .sha224, "sha256": .sha256, "sha384": .sha384, "sha512": .sha512,
    ]
    let hash = try request.choice("algorithm", hashes, default: .sha256)
    let key = try request.secret("keyHex")
    let salt = request.members.contains("saltHex") ? try request.hex("saltHex") : []
    let info = request.members.contains("infoHex") ? try request.hex("infoHex") : []
    let (byteCount, most) = (try request.integer("byteCount", default: 32), HKDF.maximumByteCount(hash))
    guard (1...Int64(most)).contains(byteCount) else {
      throw CheckFailure(invalid: "byteCount", "use 1 to \(most)")
    }
    let derived = HKDF.derive(inputKey: key, salt: salt, info: info, byteCount: Int(byteCount), hash)
    return ["bytesHex": .string(Hex.encode(derived.insecureCopy()))]
  }
]
