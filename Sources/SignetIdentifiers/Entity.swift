/// Type tags of ids that devices and the server both use; they have no instances.
public enum Entity {
  /// A container.
  public enum Container {}
  /// A transaction.
  public enum Transaction {}
  /// A command to a device.
  public enum DeviceCommand {}
  /// A push target.
  public enum PushTarget {}
}

/// The id of a container at its server.
public typealias ContainerID = ID<Entity.Container>
/// The id of a transaction at its server.
public typealias TransactionID = ID<Entity.Transaction>
/// The id of a command to a device.
public typealias DeviceCommandID = ID<Entity.DeviceCommand>
/// The id of a push target.
public typealias PushTargetID = ID<Entity.PushTarget>
