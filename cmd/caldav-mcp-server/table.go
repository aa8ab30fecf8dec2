package main

import (
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// commands are all commands, in the order of the overview.
func commands() []command {
	return []command{
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
		journalCommand(),
		deliverCommand(),
		importCommand(),
		exportCommand(),
		backupCommand(),
		restoreCommand(),
		migrateCommand(),
		reindexCommand(),
		mcpCommand(),
		healthCommand(),
		doctorCommand(),
		completionCommand(),
		manCommand(),
		versionCommand(),
	}
}

func findCommand(word string) (command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == word {
			return c, nil
		}
		names = append(names, c.name)
	}
	return command{}, console.WrongUsage("there is no command %q%s (%s help lists them)", word, console.DidYouMean("", console.Nearest(word, names)), console.Program)
}
