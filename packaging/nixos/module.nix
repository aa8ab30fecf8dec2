# A module for NixOS. In configuration.nix:
#
#   imports = [ ./module.nix ];
#   services.caldav-mcp-server = {
#     enable = true;
#     package = ./caldav-mcp-server;            # the directory with the binary of a release, or a package
#     settings.BASE_URL = "https://calendar.example.org";
#     environmentFile = "/run/secrets/calendar"; # SMTP_URL=… and other secrets
#   };
{ config, lib, pkgs, ... }:

let
  cfg = config.services.caldav-mcp-server;
  dataDir = "/var/lib/caldav-mcp-server";
  # A package has the binary in bin, the archive of a release beside its README.
  program = pkgs.runCommand "caldav-mcp-server" { } ''
    mkdir -p $out/bin
    if [ -e ${cfg.package}/bin/caldav-mcp-server ]; then
      ln -s ${cfg.package}/bin/caldav-mcp-server $out/bin/
    else
      install -m 755 ${cfg.package}/caldav-mcp-server $out/bin/
    fi
  '';
  # Commands need the server's user and settings.
  command = pkgs.writeShellScriptBin "caldav-mcp-server" ''
    exec systemd-run --quiet --collect --pty --pipe --uid=caldav-mcp --property=UMask=0077 \
      ${lib.concatStringsSep " " (lib.mapAttrsToList (name: value: lib.escapeShellArg "--setenv=${name}=${toString value}") environment)} \
      ${lib.optionalString (cfg.environmentFile != null) "--property=EnvironmentFile=${cfg.environmentFile}"} \
      ${program}/bin/caldav-mcp-server "$@"
  '';
  environment = { DATA_DIR = dataDir; } // cfg.settings;
in
{
  options.services.caldav-mcp-server = {
    enable = lib.mkEnableOption "the calendar server for apps (CalDAV) and assistants (MCP)";
    package = lib.mkOption {
      type = lib.types.path;
      description = "The package, or the unpacked archive of a release.";
    };
    settings = lib.mkOption {
      type = lib.types.attrsOf (lib.types.oneOf [ lib.types.str lib.types.int ]);
      default = { };
      example = { BASE_URL = "https://calendar.example.org"; TRUSTED_PROXIES = "127.0.0.1,::1"; };
      description = "Settings by their names in docs/settings.md. Everyone can read them in the store.";
    };
    environmentFile = lib.mkOption {
      type = lib.types.nullOr lib.types.path;
      default = null;
      description = "A file outside of the store with secrets, one NAME=value per line.";
    };
  };

  config = lib.mkIf cfg.enable {
    users.users.caldav-mcp = {
      isSystemUser = true;
      group = "caldav-mcp";
      home = dataDir;
    };
    users.groups.caldav-mcp = { };
    environment.systemPackages = [ command ];

    systemd.services.caldav-mcp-server = {
      description = "CalDAV server with an MCP endpoint";
      after = [ "network-online.target" "postgresql.service" ];
      wants = [ "network-online.target" ];
      wantedBy = [ "multi-user.target" ];
      environment = lib.mapAttrs (_: toString) environment;
      serviceConfig = {
        Type = "notify";
        ExecStart = "${program}/bin/caldav-mcp-server serve --no-first-user";
        User = "caldav-mcp";
        Group = "caldav-mcp";
        EnvironmentFile = lib.optional (cfg.environmentFile != null) cfg.environmentFile;
        StateDirectory = "caldav-mcp-server";
        StateDirectoryMode = "0700";
        LogsDirectory = "caldav-mcp-server";
        LogsDirectoryMode = "0700";
        UMask = "0077";
        Restart = "on-failure";
        RestartSec = 2;
        RestartPreventExitStatus = 2;
        TimeoutStopSec = 30;
        LimitNOFILE = 65536;
        CapabilityBoundingSet = "";
        LockPersonality = true;
        MemoryDenyWriteExecute = true;
        NoNewPrivileges = true;
        PrivateDevices = true;
        PrivateTmp = true;
        PrivateUsers = true;
        ProtectClock = true;
        ProtectControlGroups = true;
        ProtectHome = true;
        ProtectHostname = true;
        ProtectKernelLogs = true;
        ProtectKernelModules = true;
        ProtectKernelTunables = true;
        ProtectProc = "invisible";
        ProtectSystem = "strict";
        RestrictAddressFamilies = [ "AF_INET" "AF_INET6" "AF_UNIX" ];
        RestrictNamespaces = true;
        RestrictRealtime = true;
        RestrictSUIDSGID = true;
        SystemCallArchitectures = "native";
        SystemCallFilter = [ "@system-service" "~@privileged @resources" ];
      };
    };
  };
}
