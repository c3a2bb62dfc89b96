// Code that prints to a terminal must sanitise foreign text first, so it gets these functions too.
@_exported public import SignetSystem
