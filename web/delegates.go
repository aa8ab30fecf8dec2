package web

import (
	"caldav-mcp-server/calendar"
)

// delegatePages show who may use all of the visitor's calendars, and whose calendars the visitor may use.
type delegatePages struct{ *pageRequest }

func (h *Handler) delegatePages() []page {
	return []page{
		get("delegates", people, showing("delegates", delegatePages.list)),
		postBack("delegates", proven, "delegates", delegatePages.add),
		post("delegates/remove", people, delegatePages.remove),
		post("delegates/resign", people, delegatePages.resign),
	}
}

// delegatesContent is the data of the page.
type delegatesContent struct {
	// Own are the visitor's delegates, For the users who made the visitor their delegate.
	Own, For []listedDelegate
	// With is the name entered so far.
	With string
}

// listedDelegate is the other user of a delegation.
type listedDelegate struct{ Name, Title, May string }

func (p delegatePages) list() (content delegatesContent, err error) {
	content.With = p.field("with")
	all, err := p.Service.Delegates(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, d := range all {
		content.Own = append(content.Own, listedDelegate{d.Delegate.Name, d.Delegate.Title(), accessWords[d.Access]})
	}
	all, err = p.Service.DelegatedTo(p.r.Context(), p.caller())
	for _, d := range all {
		content.For = append(content.For, listedDelegate{d.Owner.Name, d.Owner.Title(), accessWords[d.Access]})
	}
	return content, err
}

func (p delegatePages) add() error {
	access := shareChoices[p.field("access")]
	if access < calendar.ReadAccess {
		return p.listAgain(calendar.Errorf(calendar.Invalid, "", "choose whether the delegate may change events"))
	}
	added, err := p.Service.AddDelegate(p.r.Context(), p.caller(), p.field("with"), access)
	if err != nil {
		return p.listAgain(err)
	}
	p.did("delegates/add", added.Delegate.Name)
	return p.done("delegates", "delegate-added")
}

// listAgain shows the page with an error of its form.
func (p delegatePages) listAgain(err error) error {
	content, failed := p.list()
	if failed != nil {
		return failed
	}
	return p.again("delegates", content, err)
}

func (p delegatePages) remove() error {
	err := p.Service.RemoveDelegate(p.r.Context(), p.caller(), p.field("with"))
	if err == nil {
		p.did("delegates/remove", p.field("with"))
	}
	return p.after(err, "delegates", "delegate-removed")
}

func (p delegatePages) resign() error {
	err := p.Service.Resign(p.r.Context(), p.caller(), p.field("with"))
	if err == nil {
		p.did("delegates/resign", p.field("with"))
	}
	return p.after(err, "delegates", "delegate-resigned")
}
