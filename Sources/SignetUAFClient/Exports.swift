// The declarations of other modules that an app needs beside those of this one, by name.

@_exported public import Signet
// Errors of a UAF client, and the binding to the TLS connection.
@_exported public import struct SignetUAF.UAFChannelBinding
@_exported public import enum SignetUAF.UAFClientError
