// What an app's tests need of the kit beside the doubles, so that they import this module only.

@_exported public import class SignetTestKit.SeededRandomSource
@_exported public import class SignetTestKit.TemporaryFolder
@_exported public import class SignetTestKit.VirtualTimer
