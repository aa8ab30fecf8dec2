package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/auth/userlist"
	"caldav-mcp-server/calendar"
)

const (
	// maxUserList limits an uploaded list of users, in bytes, and mostUsers its lines.
	maxUserList = 256 << 10
	mostUsers   = 500
	// mailsPatience limits the time to mail the links of a list.
	mailsPatience = 10 * time.Minute
)

// importUsersContent is the data of the page that imports a list of users, for administrators.
type importUsersContent struct {
	// List is the list as text.
	List string
	// NewLinks and Mail are the form; CanMail is set if the server can mail links.
	NewLinks, Mail, CanMail bool
	// Lines are the outcomes; Done is set if they are final, otherwise nothing was changed yet.
	Lines []importedUser
	Done  bool
	// Counts are the numbers of lines by outcome; Mailed counts the links that are being mailed.
	Created, Changed, Unchanged, Failed, Mailed int
}

// importedUser is a line with its error for people.
type importedUser struct {
	userlist.Outcome
	Wrong string
}

func (p userPages) importUsersContent() (importUsersContent, error) {
	return importUsersContent{
		List: p.r.PostFormValue("list"), NewLinks: p.field("new-links") != "", Mail: p.field("mail") != "",
		CanMail: p.Passlinks != nil,
	}, nil
}

// importUsers shows the outcome of a list before anything changes, or imports it.
func (p userPages) importUsers() error {
	file, _, err := p.r.FormFile("file") // which parses the other fields of a multipart form, too
	if err != nil && !errors.Is(err, http.ErrMissingFile) && !errors.Is(err, http.ErrNotMultipart) {
		return err
	}
	c, _ := p.importUsersContent()
	if err == nil {
		content, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		if len(content) > 0 {
			c.List = string(content)
		}
	}
	list, err := p.readUserList(c.List)
	if err != nil {
		return p.again("importusers", c, err)
	}
	c.Done = p.field("do") == "import"
	if c.Done {
		p.did("import-users", "")
	}
	outcomes := userlist.Importer{
		Auth: p.Auth, NewUser: p.NewUser, ChangeUser: p.ChangeUser, Address: p.passwordLinkAddress,
	}.Import(p.r.Context(), list, userlist.Options{Dry: !c.Done, NewLinks: c.NewLinks})
	c.count(p.pageRequest, outcomes)
	if c.Done && c.Mail && p.Passlinks != nil {
		c.Mailed = p.mailLinks(outcomes)
	}
	return p.show("importusers", c)
}

// readUserList parses a list, which must be short enough for one request.
func (p userPages) readUserList(text string) ([]userlist.Line, error) {
	if strings.TrimSpace(text) == "" {
		return nil, p.wrong("import-users.empty")
	}
	list, err := userlist.Read(strings.NewReader(text))
	switch {
	case calendar.ReasonOf(err) == calendar.Invalid:
		return nil, err
	case err != nil:
		return nil, p.failed(calendar.Invalid, "error.english", "message", err.Error())
	case len(list) > mostUsers:
		return nil, p.wrong("import-users.too-long", "count", len(list), "most", mostUsers)
	}
	// An administrator must not lock themselves out by a line.
	for i := range list {
		line := &list[i]
		locksOut := line.Edit.Disabled != nil && *line.Edit.Disabled || line.Edit.Admin != nil && !*line.Edit.Admin
		if line.Name == p.user().Name && locksOut && line.Wrong == nil {
			line.Wrong = p.wrong("person.self")
		}
	}
	return list, nil
}

func (c *importUsersContent) count(p *pageRequest, outcomes []userlist.Outcome) {
	for _, o := range outcomes {
		line := importedUser{Outcome: o}
		if o.Error != nil {
			_, line.Wrong = p.explain(o.Error)
			if calendar.ReasonOf(o.Error) == calendar.Internal {
				line.Wrong = sentence(p.lang.Text("error.english", "message", o.Error.Error()))
			}
		}
		switch o.Outcome {
		case userlist.Created:
			c.Created++
		case userlist.Changed:
			c.Changed++
		case userlist.Unchanged:
			c.Unchanged++
		default:
			c.Failed++
		}
		c.Lines = append(c.Lines, line)
	}
}

// mailLinks mails the links after the page is shown, and returns their number. The page shows them as well.
func (p userPages) mailLinks(outcomes []userlist.Outcome) int {
	var mails []func(context.Context) error
	for _, o := range outcomes {
		if o.Link == "" {
			continue
		}
		u, err := p.Auth.User(p.r.Context(), o.User)
		if err != nil || u.Email == "" {
			continue
		}
		mails = append(mails, func(ctx context.Context) error {
			return p.Passlinks.Send(ctx, u, false, o.Link, o.Expires)
		})
	}
	ctx := context.WithoutCancel(p.r.Context())
	go func() {
		ctx, cancel := context.WithTimeout(ctx, mailsPatience)
		defer cancel()
		for _, send := range mails {
			if err := send(ctx); err != nil {
				p.Logger.WarnContext(ctx, "a link could not be mailed", "error", err)
			}
		}
	}()
	return len(mails)
}
