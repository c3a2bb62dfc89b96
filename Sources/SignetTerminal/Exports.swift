// Whoever prints to a terminal makes others' words harmless first.
@_exported public import SignetText
