public import SignetSQL

// Enumerations that are stored as words in text columns.
extension ActivationRecord.State: SQLRepresentable {}
extension ContainerRecord.State: SQLRepresentable {}
extension CredentialRecord.Kind: SQLRepresentable {}
extension CredentialRecord.State: SQLRepresentable {}
extension TransactionRecord.State: SQLRepresentable {}
extension ClientRecord.Authentication: SQLRepresentable {}
extension ClientRecord.Delivery: SQLRepresentable {}
extension UAFCredentialRecord.State: SQLRepresentable {}
extension UAFCredentialRecord.ModelProof: SQLRepresentable {}
extension UAFOperationRecord.State: SQLRepresentable {}
extension PushAuthMechanismRecord.State: SQLRepresentable {}
extension PushAuthMessageRecord.State: SQLRepresentable {}
extension DeviceCommandRecord.Action: SQLRepresentable {}
extension AuthenticatorRecord.Kind: SQLRepresentable {}
extension OutboxChannel: SQLRepresentable {}
extension OutboxEvent.Kind: SQLRepresentable {}
