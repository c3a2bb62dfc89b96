/// Tags of ids that devices and the server both use; no value of them is made.
public enum Entity {
  /// A container.
  public enum Container {}
  /// A transaction.
  public enum Transaction {}
  /// A command to a device.
  public enum DeviceCommand {}
  /// A target of pushes.
  public enum PushTarget {}
}

/// Names a container at its server.
public typealias ContainerID = ID<Entity.Container>
/// Names a transaction at its server.
public typealias TransactionID = ID<Entity.Transaction>
/// Names a command to a device.
public typealias DeviceCommandID = ID<Entity.DeviceCommand>
/// Names a target of pushes.
public typealias PushTargetID = ID<Entity.PushTarget>
