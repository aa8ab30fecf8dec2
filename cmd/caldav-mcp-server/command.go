package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
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
	// user is what is said of --user, whom the desk then has; a command without it has no such flag.
	user string
	// json tells that a program can have the outcome in JSON.
	json  bool
	flags func(*flag.FlagSet)
	// check sees what is wrong with the call, before anything is opened or done.
	check func(d *desk, operands []string) error
	// run does the work on the database. A command with begins may make one; one with alone opens none, or does that itself.
	run           func(ctx context.Context, d *desk, operands []string) error
	begins, alone bool
}

// desk is where a command works: it has what the program has, the house unless the command is one that works alone, and what was said.
type desk struct {
	*program
	*house
	config config
	// user is what --user says, who the one of that name.
	user string
	who  calendar.User
	json bool
}

// caller is the user as the command line speaks for them.
func (d *desk) caller() calendar.Caller { return caller(d.who) }

// done tells what was done: a person in a line, a script in JSON.
func (d *desk) done(value any, format string, args ...any) error {
	if d.json {
		return d.printJSON(value)
	}
	_, err := fmt.Fprintf(d.stdout, format, args...)
	return err
}

// declared are a command's flags, with those that many have.
func (c command) declared(d *desk) *flag.FlagSet {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	if c.user != "" {
		f.StringVar(&d.user, "user", "", c.user+" "+needed)
	}
	if c.json {
		f.BoolVar(&d.json, "json", false, "print JSON for a program to read")
	}
	if c.flags != nil {
		c.flags(f)
	}
	return f
}

// needed stands in what is said of a flag without which there is no work.
const needed = "(needed)"

// missing says which flags are needed, if one of them is not given.
func missing(f *flag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var all []string
	lacks := false
	f.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(f.Usage, needed) {
			return
		}
		at := len(all)
		if f.Name == "user" {
			at = 0
		}
		all = slices.Insert(all, at, "--"+f.Name)
		_, text := f.Value.(flag.Getter) // what reads its value itself does not give it back
		lacks = lacks || !given[f.Name] || text && f.Value.String() == ""
	})
	if !lacks {
		return nil
	}
	return fmt.Errorf("it needs %s", and(all))
}

// and lists words as a sentence has them.
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
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
	return command{}, wrongUsage("there is no command %q%s (%s help lists them)", word, didYouMean("", nearest(word, names)), name)
}
