// What an app needs beside the declarations of this module, by name: so that `import Signet` is enough, and the
// modules below stay free to change everything else.

// Secrets and randomness.
@_exported public import struct SignetCrypto.Argon2id
@_exported public import enum SignetCrypto.CryptoFailure
@_exported public import protocol SignetCrypto.RandomSource
@_exported public import struct SignetCrypto.SecretBytes
@_exported public import class SignetCrypto.SharedSecretBox
@_exported public import struct SignetCrypto.SystemRandomSource
// One-time passwords.
@_exported public import enum SignetOATH.CrockfordBase32Failure
@_exported public import struct SignetOATH.TimedCode
#if os(Linux)
  // Fingerprints and the account's passcode.
  @_exported public import class SignetBiometrics.FprintGate
  @_exported public import class SignetPAM.PAMPasscode
#endif
// What a server asks of a password.
@_exported public import enum SignetPolicy.CharacterClass
@_exported public import struct SignetPolicy.CharacterCount
@_exported public import struct SignetPolicy.DeviceAbilities
@_exported public import enum SignetPolicy.LimitConsequence
@_exported public import enum SignetPolicy.LockPolicy
@_exported public import enum SignetPolicy.LockStatus
@_exported public import enum SignetPolicy.OpaqueStringFailure
@_exported public import struct SignetPolicy.PasswordAge
@_exported public import struct SignetPolicy.PasswordCache
@_exported public import struct SignetPolicy.PasswordChecks
@_exported public import protocol SignetPolicy.PasswordDictionary
@_exported public import enum SignetPolicy.PasswordDictionaryFailure
@_exported public import struct SignetPolicy.PasswordPolicy
@_exported public import enum SignetPolicy.PasswordPurpose
@_exported public import protocol SignetPolicy.PasswordValidator
@_exported public import enum SignetPolicy.PasswordViolation
@_exported public import enum SignetPolicy.PolicyFailure
@_exported public import enum SignetPolicy.ProtectionPolicy
// How servers are reached.
@_exported public import enum SignetTransport.CertificateProblem
@_exported public import enum SignetTransport.ConfigurationProblem
@_exported public import struct SignetTransport.ConnectionConfiguration
@_exported public import class SignetTransport.CurlTransport
@_exported public import enum SignetTransport.HTTPMethod
@_exported public import struct SignetTransport.HTTPRequest
@_exported public import struct SignetTransport.HTTPResponse
@_exported public import protocol SignetTransport.HTTPTransport
@_exported public import enum SignetTransport.ProxySetting
@_exported public import enum SignetTransport.RequestProblem
@_exported public import enum SignetTransport.TransportFailure
// Where containers are kept.
@_exported public import enum SignetVault.AppDataFailure
@_exported public import enum SignetVault.AppDataFormat
@_exported public import class SignetVault.AppDataKey
@_exported public import struct SignetVault.AppDataOpener
@_exported public import struct SignetVault.AppDataSealer
@_exported public import struct SignetVault.AppGroup
@_exported public import enum SignetVault.BiometricFailure
@_exported public import protocol SignetVault.BiometricGate
@_exported public import enum SignetVault.BiometricHint
@_exported public import enum SignetVault.BiometricState
@_exported public import enum SignetVault.ClockFailure
@_exported public import struct SignetVault.ContainerID
@_exported public import struct SignetVault.DeviceID
@_exported public import protocol SignetVault.DevicePasscode
@_exported public import enum SignetVault.DevicePasscodeFailure
@_exported public import enum SignetVault.DevicePasscodeState
@_exported public import struct SignetVault.EnrolledSet
@_exported public import protocol SignetVault.HardwareKeystore
@_exported public import enum SignetVault.KeystoreFailure
@_exported public import enum SignetVault.KeystoreKind
@_exported public import struct SignetVault.KeystoreStatus
@_exported public import enum SignetVault.LockReason
@_exported public import protocol SignetVault.PasscodeConversation
@_exported public import struct SignetVault.PasscodeMessage
@_exported public import struct SignetVault.PasscodePrompt
@_exported public import enum SignetVault.PasswordCost
@_exported public import struct SignetVault.RecoveryCode
@_exported public import struct SignetVault.SessionLimits
@_exported public import enum SignetVault.SlotKind
@_exported public import struct SignetVault.SoftwareKeystore
@_exported public import struct SignetVault.SystemTrustedClock
@_exported public import protocol SignetVault.TrustedClock
@_exported public import struct SignetVault.TrustedTime
@_exported public import class SignetVault.Vault
@_exported public import enum SignetVault.VaultFailure
@_exported public import enum SignetVault.VaultPart
// The words of the protocol.
@_exported public import struct SignetWire.ActivationCode
@_exported public import struct SignetWire.EndNotice
@_exported public import enum SignetWire.ActivationCodeFailure
@_exported public import struct SignetWire.ContainerProfile
@_exported public import enum SignetWire.DecisionStatus
@_exported public import struct SignetWire.InviteCode
@_exported public import enum SignetWire.InviteCodeFailure
@_exported public import struct SignetWire.Problem
@_exported public import struct SignetWire.ServerMadeID
@_exported public import struct SignetWire.ServerURL
@_exported public import enum SignetWire.ServerURLFailure
@_exported public import struct SignetWire.SystemWallClock
@_exported public import struct SignetWire.TOTPParameters
@_exported public import typealias SignetWire.TransactionID
@_exported public import struct SignetWire.TransactionList
@_exported public import struct SignetWire.TransactionRequest
@_exported public import struct SignetWire.UserID
@_exported public import protocol SignetWire.WallClock
@_exported public import enum SignetWire.WireFailure
