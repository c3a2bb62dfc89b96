// Ids of models and keys are a part of this module's API.
@_exported public import SignetIdentifiers
