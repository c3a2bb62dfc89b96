#if os(Linux)
  import FoundationEssentials
  import Signet
  import SignetAgent
  import SignetIntegrity
  import SignetJSON
  import SignetLinux
  import SignetTerminal

  extension Command {
    static let agent = Command(
      "agent", "Hold the unlocked sessions of this user's apps",
      description: """
        The agent runs until it is stopped. It listens on a socket that only this user can reach, and accepts the \
        programs that the groups file names; signet lock, unlock and status use the socket as well. All programs of a \
        group share one session: one unlock is valid for all, one lock locks all.

        The groups file is JSON: \
        {"version":1,"groups":[{"name":"default","executables":["/usr/bin/app"],"idle":300,"age":28800}]}. Paths are \
        absolute and without links; neither group nor others may write to the programs or to the folders above them. \
        idle and age are the seconds after which a session is locked; they may be left out.

        At each unlock the agent checks for tampering, and reacts as the integrity settings say: it refuses the unlock \
        and names what it found, wipes the sessions of all groups, or terminates.

        systemd can start the agent when its socket is used: systemctl --user enable --now signet-agent.socket.
        """,
      options: [
        AgentOptions.socket, ContainerChoice.option,
        .value(
          "groups", "The groups file; ~/.config/signet/agent.json where it is not given", named: "file",
          completion: .file),
      ]
    ) { arguments in
      guard ProcessHardening.closeMemory() else {
        throw CommandFailure(
          .unavailable,
          "the system does not protect the memory of this process from other processes; the agent cannot hold keys in it"
        )
      }
      let configuration = try AgentConfiguration(path: groupsPath(arguments))
      // The device locks the agent's own sessions, so no other responder is needed.
      let device = try DeviceOptions(arguments).device(
        createIfMissing: false, responder: PlainResponder())
      // Checked now, so that a wrong choice is reported at once; looked up again at every unlock.
      let chosen = try await ContainerChoice.container(arguments, of: device)
      let agent = Agent(device: device, configuration: configuration, screen: LogindScreenLock()) {
        () throws(SignetError) in
        let same = try await device.containers().filter {
          $0.user == chosen.user && $0.server == chosen.server
        }
        guard let container = same.first else { throw .noSuchContainer }
        return container
      }
      await installSeccompFilter()
      if let inherited = try AgentSocket.inherited(ProcessInfo.processInfo.environment) {
        try await agent.serve(inherited)
      } else {
        let path = try AgentOptions.path(arguments)
        let socket = try AgentSocket(at: path)
        arguments.output.print("listening at \(path)")
        try await agent.serve(socket)
      }
      return .success
    }

    /// Forbids system calls that start programs, unless a passcode can be checked: then PAM starts a privileged program.
    private static func installSeccompFilter() async {
      guard await PAMPasscode().state() != .ready else { return }
      do throws(GuardFailure) { try SystemCallFilter.denyExec.begin() } catch {
        // Continue: the memory is closed, and the agent cannot choose a kernel that supports filters.
      }
    }

    static let unlock = Command(
      "unlock", "Unlock the session that apps share",
      description: """
        The command asks for the password, or, if that is enabled, for a finger or the passcode of this device, which \
        the agent verifies.
        """,
      options: [AgentOptions.socket, AgentOptions.program, AgentOptions.group, ContainerChoice.option]
    ) { arguments in
      let options = try DeviceOptions(arguments)
      let device = try options.device(createIfMissing: false)
      let container = try await ContainerChoice.container(arguments, of: device)
      let session = try AgentOptions.session(arguments)
      // Check the session before asking for the password.
      _ = try await session.state()
      try await options.authenticated(container, on: device, to: "Unlock the data of apps") {
        try await session.unlock(by: $0)
      }
      report(.unlocked, session.group, arguments)
      return .success
    }

    static let lock = Command(
      "lock", "Lock the sessions of all groups of apps", options: [AgentOptions.socket, AgentOptions.program]
    ) { arguments in
      try await AgentSession(
        path: AgentOptions.path(arguments), servedBy: AgentOptions.programs(arguments)
      ).lockAllGroups()
      if arguments.isSet("json") {
        arguments.output.print(json: JSONValue.object(["state": "locked"]).text)
      } else {
        arguments.output.print("Locked.")
      }
      return .success
    }

    static let status = Command(
      "status", "Show whether the session that apps share is unlocked",
      description: "The exit status is 0 if it is, 1 if it is locked.",
      options: [AgentOptions.socket, AgentOptions.program, AgentOptions.group]
    ) { arguments in
      let session = try AgentOptions.session(arguments)
      let state = try await session.state()
      report(state, session.group, arguments)
      return state == .unlocked ? .success : .failure
    }

    private static func groupsPath(_ arguments: Arguments) throws -> String {
      if let path = arguments.optionalString("groups") { return path }
      let environment = ProcessInfo.processInfo.environment
      // XDG Base Directory Specification: an unset or relative XDG_CONFIG_HOME means ~/.config.
      if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") { return "\(base)/signet/agent.json" }
      if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/.config/signet/agent.json" }
      throw CommandFailure(.usage, "HOME is not set; name the groups file with --groups")
    }

    private static func report(_ state: SessionState, _ group: AppGroup, _ arguments: Arguments) {
      let isJSON = arguments.isSet("json")
      switch state {
      case .unlocked:
        let object: JSONObject = ["group": .string(group.name), "state": "unlocked"]
        if isJSON {
          arguments.output.print(json: JSONValue.object(object).text)
        } else {
          arguments.output.print("\(group): unlocked")
        }
      case .locked(let reason):
        let object: JSONObject = [
          "group": .string(group.name), "state": "locked", "reason": .string(reason.rawValue),
        ]
        if isJSON {
          arguments.output.print(json: JSONValue.object(object).text)
        } else {
          arguments.output.print("\(group): \(reason)")
        }
      }
    }
  }
#endif
