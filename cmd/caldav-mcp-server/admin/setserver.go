package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setServerDetails = `
These settings apply to the whole service. They are in the database, and all servers and commands that use it follow a
change within five seconds, without a restart. The value "default" resets a setting. Omitted settings stay.

A setting that serve was started with, in its environment or by a flag, takes precedence, and set-server refuses to
change it. show-server shows the current settings and their source.
  caldav-mcp-server set-server --journal-days 90 --shares-need-acceptance default
`

// setDefault is the value that resets a setting.
const setDefault = "default"

// SetServerCommand is the command set-server.
func SetServerCommand() command.Command {
	set := map[string]string{}
	var forget []string
	return command.Command{
		Name: "set-server", Settings: settings.StoreGroup, JSON: true,
		Summary: "change settings of the whole service", Details: setServerDetails,
		Flags: func(f *flag.FlagSet) {
			for _, s := range settings.ServiceRows() {
				f.Func(s.Flag(), "`"+s.Placeholder+"`: "+s.About, func(value string) error {
					if value == setDefault {
						forget = append(forget, s.Env)
						delete(set, s.Env)
						return nil
					}
					if err := s.Set(new(settings.Config), value); err != nil {
						return fmt.Errorf("%w, nor %s", err, setDefault)
					}
					set[s.Env] = value
					return nil
				})
			}
		},
		Check: func(*command.Context, []string) error {
			if len(set)+len(forget) == 0 {
				return errors.New("it needs a setting to change")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			if err := d.ChangeService(ctx, set, forget); err != nil {
				return err
			}
			all, err := d.ServerSettings(ctx)
			if err != nil {
				return err
			}
			if d.JSON {
				return d.PrintJSON(console.Each(all, serverSettingJSON))
			}
			for _, s := range all {
				if _, changed := set[s.Env]; changed || s.From == app.ByDefault && slices.Contains(forget, s.Env) {
					d.Say("%s is now %s\n", s.Env, s.ShownValue())
				}
			}
			return nil
		},
	}
}

// listedServerSetting is a setting in JSON.
type listedServerSetting struct {
	Setting string     `json:"setting"`
	Value   string     `json:"value"`
	From    app.Origin `json:"from"`
	Changed *time.Time `json:"changed"`
}

func serverSettingJSON(s app.ServerSetting) listedServerSetting {
	return listedServerSetting{s.Env, s.Value, s.From, console.JSONTime(s.Changed)}
}

// ShowServerCommand is the command show-server.
func ShowServerCommand() command.Command {
	return command.Listing[app.ServerSetting, listedServerSetting]{
		Command: command.Command{Name: "show-server", Summary: "show the settings of the whole service"},
		Find:    func(ctx context.Context, h *app.App) ([]app.ServerSetting, error) { return h.ServerSettings(ctx) },
		JSON:    serverSettingJSON,
		Heads:   []string{"SETTING", "VALUE", "FROM", "CHANGED"},
		Row: func(s app.ServerSetting, _ time.Time) []string {
			return []string{s.Env, s.ShownValue(), string(s.From), console.ShownTime(s.Changed)}
		},
	}.AsCommand()
}
