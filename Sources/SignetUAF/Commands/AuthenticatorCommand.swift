/// A module's command to an authenticator, in its wire form (UAF Authenticator Commands section 6).
package enum AuthenticatorCommand: Hashable, Sendable {
  case getInfo
  case register(Register)
  case sign(Sign)
  case deregister(Deregister)
  case openSettings(index: UInt8)

  /// The command that creates a key.
  package struct Register: Hashable, Sendable {
    package var index: UInt8
    /// The application; only for authenticators that expect it.
    package var appID: String?
    package var finalChallengeHash: [UInt8]
    /// The user's name, 1 to 128 bytes.
    package var userName: String
    package var attestationType: AttestationType
    package var accessToken: [UInt8]
    package var userVerifyToken: [UInt8]?

    package init(
      index: UInt8, appID: String?, finalChallengeHash: [UInt8], userName: String,
      attestationType: AttestationType, accessToken: [UInt8], userVerifyToken: [UInt8]? = nil
    ) {
      self.index = index
      self.appID = appID
      self.finalChallengeHash = finalChallengeHash
      self.userName = userName
      self.attestationType = attestationType
      self.accessToken = accessToken
      self.userVerifyToken = userVerifyToken
    }
  }

  /// The command that uses a key.
  package struct Sign: Hashable, Sendable {
    package var index: UInt8
    package var appID: String?
    package var finalChallengeHash: [UInt8]
    /// The transaction to confirm; `nil` if there is none or only its hash is given.
    package var transactionContent: [UInt8]?
    package var transactionHash: [UInt8]?
    package var accessToken: [UInt8]
    package var userVerifyToken: [UInt8]?
    package var keyHandles: [[UInt8]]

    package init(
      index: UInt8, appID: String?, finalChallengeHash: [UInt8], transactionContent: [UInt8]? = nil,
      transactionHash: [UInt8]? = nil, accessToken: [UInt8], userVerifyToken: [UInt8]? = nil,
      keyHandles: [[UInt8]]
    ) {
      self.index = index
      self.appID = appID
      self.finalChallengeHash = finalChallengeHash
      self.transactionContent = transactionContent
      self.transactionHash = transactionHash
      self.accessToken = accessToken
      self.userVerifyToken = userVerifyToken
      self.keyHandles = keyHandles
    }
  }

  /// The command that deletes a key, or all keys of the application.
  package struct Deregister: Hashable, Sendable {
    package var index: UInt8
    package var appID: String?
    package var keyID: KeyID?
    package var accessToken: [UInt8]

    package init(index: UInt8, appID: String?, keyID: KeyID?, accessToken: [UInt8]) {
      self.index = index
      self.appID = appID
      self.keyID = keyID
      self.accessToken = accessToken
    }
  }

  /// Parses a command.
  ///
  /// - Throws: ``AuthenticatorCommandFailure``; the authenticator then answers that the parameters are invalid.
  package init(parsing bytes: [UInt8]) throws(AuthenticatorCommandFailure) {
    let elements = try CommandElements(bytes)
    switch elements.tag {
    case .getInfoCommand:
      try elements.refuse(except: [])
      self = .getInfo
    case .registerCommand:
      try elements.refuse(except: [
        .authenticatorIndex, .appID, .finalChallengeHash, .userName, .attestationType, .keyHandleAccessToken,
        .userVerifyToken,
      ])
      self = .register(
        Register(
          index: try elements.index(), appID: try elements.optionalText(.appID, 1...512),
          finalChallengeHash: try elements.required(.finalChallengeHash, 32...32),
          userName: try elements.text(.userName, 1...128),
          attestationType: AttestationType(rawValue: try elements.number(.attestationType, byteCount: 2)),
          accessToken: try elements.required(.keyHandleAccessToken, 1...32),
          userVerifyToken: try elements.optional(.userVerifyToken, 1...1024)))
    case .signCommand:
      try elements.refuse(except: [
        .authenticatorIndex, .appID, .finalChallengeHash, .transactionContent, .transactionContentHash,
        .keyHandleAccessToken, .userVerifyToken, .keyHandle,
      ])
      self = .sign(
        Sign(
          index: try elements.index(), appID: try elements.optionalText(.appID, 1...512),
          finalChallengeHash: try elements.required(.finalChallengeHash, 32...32),
          transactionContent: try elements.optional(.transactionContent, 1...65_535),
          transactionHash: try elements.optional(.transactionContentHash, 32...32),
          accessToken: try elements.required(.keyHandleAccessToken, 1...32),
          userVerifyToken: try elements.optional(.userVerifyToken, 1...1024),
          keyHandles: try elements.all(.keyHandle, 1...4096)))
    case .deregisterCommand:
      try elements.refuse(except: [.authenticatorIndex, .appID, .keyID, .keyHandleAccessToken])
      let keyID = try elements.required(.keyID, 0...2048)
      guard keyID.isEmpty || KeyID(keyID) != nil else { throw .content(.keyID) }
      self = .deregister(
        Deregister(
          index: try elements.index(), appID: try elements.optionalText(.appID, 1...512), keyID: KeyID(keyID),
          accessToken: try elements.required(.keyHandleAccessToken, 1...32)))
    case .openSettingsCommand:
      try elements.refuse(except: [.authenticatorIndex])
      self = .openSettings(index: try elements.index())
    default: throw .notACommand
    }
  }

  package var encoded: [UInt8] {
    var writer = TLVWriter()
    switch self {
    case .getInfo: writer.write(.getInfoCommand, [])
    case .register(let command):
      writer.write(.registerCommand) { writer in
        writer.write(.authenticatorIndex, [command.index])
        writer.writeOptional(.appID, command.appID.map { Array($0.utf8) })
        writer.write(.finalChallengeHash, command.finalChallengeHash)
        writer.write(.userName, command.userName.utf8)
        writer.write(.attestationType) { $0.write(command.attestationType.rawValue) }
        writer.write(.keyHandleAccessToken, command.accessToken)
        writer.writeOptional(.userVerifyToken, command.userVerifyToken)
      }
    case .sign(let command):
      writer.write(.signCommand) { writer in
        writer.write(.authenticatorIndex, [command.index])
        writer.writeOptional(.appID, command.appID.map { Array($0.utf8) })
        writer.write(.finalChallengeHash, command.finalChallengeHash)
        writer.writeOptional(.transactionContent, command.transactionContent)
        writer.writeOptional(.transactionContentHash, command.transactionHash)
        writer.write(.keyHandleAccessToken, command.accessToken)
        writer.writeOptional(.userVerifyToken, command.userVerifyToken)
        for handle in command.keyHandles { writer.write(.keyHandle, handle) }
      }
    case .deregister(let command):
      writer.write(.deregisterCommand) { writer in
        writer.write(.authenticatorIndex, [command.index])
        writer.writeOptional(.appID, command.appID.map { Array($0.utf8) })
        writer.write(.keyID, command.keyID?.bytes ?? [])
        writer.write(.keyHandleAccessToken, command.accessToken)
      }
    case .openSettings(let index):
      writer.write(.openSettingsCommand) { $0.write(.authenticatorIndex, [index]) }
    }
    return writer.bytes
  }
}

extension CommandElements {
  /// Returns the index of the authenticator within the module.
  fileprivate func index() throws(AuthenticatorCommandFailure) -> UInt8 {
    try required(.authenticatorIndex, 1...1)[0]
  }
}

extension TLVWriter {
  /// Writes an element unless it is `nil`.
  mutating func writeOptional(_ tag: TLVTag, _ content: [UInt8]?) {
    if let content { write(tag, content) }
  }
}
