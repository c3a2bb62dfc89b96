// The types of the kit that an app's tests need in addition to the doubles, so that they import this module only.

@_exported public import class SignetTestKit.SeededRandomSource
@_exported public import class SignetTestKit.TemporaryFolder
@_exported public import class SignetTestKit.VirtualTimer
