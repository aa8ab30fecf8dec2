package main

import (
	"context"
	"flag"
)

// command is one row of the table of commands.
type command struct {
	name string
	// operands are the names of the arguments that must be there.
	operands []string
	// optional are those that may follow them.
	optional []string
	// summary is one line for the overview; details tell the rest.
	summary, details string
	// settings are the groups of settings that the command reads.
	settings group
	flags    func(*flag.FlagSet)
	run      func(ctx context.Context, p *program, c config, operands []string) error
}

// commands are all there are, in the order in which the overview lists them.
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
	return command{}, wrongUsage("there is no command %q%s (%s help lists them)", word, didYouMean("", nearest(word, names)), name)
}
