import Foundation

// A peer that ends early must cause an error, not the end of this process.
_ = signal(SIGPIPE, SIG_IGN)
if CommandLine.arguments.dropFirst().first == ServerProcess.verb {
  try await ServerProcess.serve(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == LiveServer.verb {
  try await LiveServer.serve(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == UAFServerProcess.verb {
  try await UAFServerProcess.serve(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == EmptyServer.verb {
  try await EmptyServer.serve(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--open-vault" {
  try await Bench.openVault(CommandLine.arguments[2])
} else {
  exit(await Benchmarks.run(Array(CommandLine.arguments.dropFirst())))
}
