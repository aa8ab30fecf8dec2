package main

import (
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/transfer"
)

// commands are all commands, in the order of the overview.
func commands() []command.Command {
	return []command.Command{
		serveCommand(),
		setServerCommand(),
		showServerCommand(),
		createUserCommand(),
		inviteUserCommand(),
		importUsersCommand(),
		listUsersCommand(),
		setUserCommand(),
		setDigestCommand(),
		setPasswordCommand(),
		endAccessCommand(),
		deleteUserCommand(),
		createGroupCommand(),
		listGroupsCommand(),
		addMembersCommand(),
		removeMembersCommand(),
		deleteGroupCommand(),
		createRoomCommand(),
		setRoomCommand(),
		listRoomsCommand(),
		createTokenCommand(),
		listTokensCommand(),
		revokeTokenCommand(),
		addClientCommand(),
		listClientsCommand(),
		removeClientCommand(),
		createCalendarCommand(),
		listCalendarsCommand(),
		setCalendarCommand(),
		deleteCalendarCommand(),
		shareCommand(),
		unshareCommand(),
		answerShareCommand(),
		listSharesCommand(),
		blockSharerCommand(),
		unblockSharerCommand(),
		createLinkCommand(),
		listLinksCommand(),
		revokeLinkCommand(),
		linkCalendarCommand(),
		linkAccountCommand(),
		listAccountsCommand(),
		refreshCommand(),
		unlinkAccountCommand(),
		rotateKeyCommand(),
		addWebhookCommand(),
		listWebhooksCommand(),
		listDeliveriesCommand(),
		setWebhookCommand(),
		removeWebhookCommand(),
		trashCommand(),
		transfer.JournalCommand(),
		deliverCommand(),
		transfer.ImportCommand(),
		transfer.ExportCommand(),
		transfer.BackupCommand(),
		transfer.RestoreCommand(),
		transfer.MigrateCommand(),
		reindexCommand(),
		mcpCommand(),
		healthCommand(),
		doctor.Command(),
		completionCommand(),
		manCommand(),
		versionCommand(),
	}
}

func findCommand(word string) (command.Command, error) {
	var names []string
	for _, c := range commands() {
		if c.Name == word {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return command.Command{}, console.WrongUsage("there is no command %q%s (%s help lists them)", word, console.DidYouMean("", console.Nearest(word, names)), console.Program)
}
