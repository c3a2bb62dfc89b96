import PushFixture
import Testing

extension Trait where Self == ConditionTrait {
  /// Skips a test where there is no Python with the modules of the tests.
  static var needsPushServices: Self {
    .enabled(
      if: PushServices.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt")
  }
}
