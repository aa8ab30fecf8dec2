package main

import (
	"caldav-mcp-server/cmd/caldav-mcp-server/admin"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/transfer"
)

// commands are all commands, in the order of the overview.
func commands() []command.Command {
	return []command.Command{
		serveCommand(),
		admin.SetServerCommand(),
		admin.ShowServerCommand(),
		admin.CreateUserCommand(),
		admin.InviteUserCommand(),
		admin.ImportUsersCommand(),
		admin.ListUsersCommand(),
		admin.SetUserCommand(),
		admin.SetDigestCommand(),
		admin.SetPasswordCommand(),
		admin.EndAccessCommand(),
		admin.DeleteUserCommand(),
		admin.CreateGroupCommand(),
		admin.ListGroupsCommand(),
		admin.AddMembersCommand(),
		admin.RemoveMembersCommand(),
		admin.DeleteGroupCommand(),
		admin.CreateRoomCommand(),
		admin.SetRoomCommand(),
		admin.ListRoomsCommand(),
		admin.CreateTokenCommand(),
		admin.ListTokensCommand(),
		admin.RevokeTokenCommand(),
		admin.AddClientCommand(),
		admin.ListClientsCommand(),
		admin.RemoveClientCommand(),
		admin.CreateCalendarCommand(),
		admin.ListCalendarsCommand(),
		admin.SetCalendarCommand(),
		admin.DeleteCalendarCommand(),
		admin.ShareCommand(),
		admin.UnshareCommand(),
		admin.AnswerShareCommand(),
		admin.ListSharesCommand(),
		admin.BlockSharerCommand(),
		admin.UnblockSharerCommand(),
		admin.AddDelegateCommand(),
		admin.ListDelegatesCommand(),
		admin.RemoveDelegateCommand(),
		admin.CreateLinkCommand(),
		admin.ListLinksCommand(),
		admin.RevokeLinkCommand(),
		admin.LinkCalendarCommand(),
		admin.LinkAccountCommand(),
		admin.ChooseCalendarsCommand(),
		admin.ListAccountsCommand(),
		admin.RefreshCommand(),
		admin.UnlinkAccountCommand(),
		admin.RotateKeyCommand(),
		admin.AddWebhookCommand(),
		admin.ListWebhooksCommand(),
		admin.ListDeliveriesCommand(),
		admin.SetWebhookCommand(),
		admin.RemoveWebhookCommand(),
		admin.TrashCommand(),
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
	return command.Command{}, console.WrongUsage("there is no command %q%s (%s help lists them)", word,
		console.DidYouMean("", console.Nearest(word, names)), console.Program)
}
