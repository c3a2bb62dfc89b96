import SignetCrypto
import SignetJSON
import SignetOATH

/// Base32 (RFC 4648 section 6).
let base32Operations = [
  Operation(name: "base32-decode") { request in
    let modes: [String: Base32.Mode] = [
      "lenient": .lenient, "strict": .strict, "transcribed": .transcribed,
    ]
    let mode = try request.choice("mode", modes, default: .lenient)
    return ["bytesHex": .string(Hex.encode(try Base32.decode(try request.string("text"), mode: mode)))]
  },
  Operation(name: "base32-encode") { request in
    ["text": .string(Base32.encode(try request.hex("bytesHex")))]
  },
]
