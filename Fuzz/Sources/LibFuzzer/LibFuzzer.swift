import CFixedRandom
import CLibFuzzer
import Dispatch
import Glibc

/// The fuzzer of the compiler's runtime, called as a library.
///
/// Its own `main` is linked, but not reached: the package manager lets every executable start in the `main` of its
/// own module, so that is where the fuzzer is started from.
public enum LibFuzzer {
  // The fuzzer calls a function without context, so what that calls has no other place. Written once, before.
  nonisolated(unsafe) fileprivate static var check: ([UInt8]) -> Void = { _ in }

  /// Runs the fuzzer with the arguments of the process, and ends the process with its status.
  ///
  /// What is drawn at random is the same for each input, whichever came before, so that every finding repeats.
  ///
  /// - Parameters:
  ///   - prepare: Makes what all inputs share.
  ///   - check: Gets each input.
  public static func run(preparing prepare: () -> Void = {}, _ check: @escaping ([UInt8]) -> Void) -> Never {
    unsafe Self.check = check
    require(signet_fix_randomness() == 1, "OpenSSL takes its random bytes from here")
    prepare()
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
    exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, checkOneInput))
  }
}

/// What the fuzzer calls; under this name because the unreached `main` asks the linker for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func checkOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  signet_restart_randomness(1)
  unsafe LibFuzzer.check(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// Ends the process, which the fuzzer notes as a finding, unless a property of a parser holds.
///
/// - Parameters:
///   - holds: The property.
///   - property: What should have held.
public func require(_ holds: @autoclosure () -> Bool, _ property: StaticString) {
  guard holds() else { fatalError("property violated: \(property)") }
}

/// The result of work that suspends, on a thread that may wait for it.
public func waiting<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
  let done = DispatchSemaphore(value: 0)
  let box = ResultBox<Result>()
  Task.detached {
    box.value = await work()
    done.signal()
  }
  done.wait()
  guard let value = box.value else { preconditionFailure("the work has ended") }
  return value
}

/// Written before the semaphore is raised, read after.
private final class ResultBox<Value>: @unchecked Sendable {
  var value: Value?
}

/// What a parser accepts, or nil where it refuses; a refusal must be able to say why.
public func accepted<Value: ~Copyable, Failure: Error & CustomStringConvertible>(
  _ parse: () throws(Failure) -> Value
) -> Value? {
  do throws(Failure) {
    return try parse()
  } catch {
    require(!error.description.isEmpty, "a refusal says why")
    return nil
  }
}

/// What must succeed, because what goes in was made by the same module.
public func made<Value: ~Copyable, Failure: Error>(
  _ what: StaticString, _ make: () throws(Failure) -> Value
) -> Value {
  do throws(Failure) {
    return try make()
  } catch {
    fatalError("property violated: \(what) (\(error))")
  }
}
