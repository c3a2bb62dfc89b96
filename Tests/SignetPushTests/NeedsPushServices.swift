import PushFixture
import Testing

extension Trait where Self == ConditionTrait {
  /// Skips a test if there is no Python with the tests' modules.
  static var needsPushServices: Self {
    .enabled(
      if: PushServices.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt")
  }
}
