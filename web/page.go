package web

import (
	"net/http"
	"slices"
)

// who is the kind of visitor that may see a page. Others are told that there is none, or led to the sign-in.
type who int

const (
	// anybody comes without a session.
	anybody who = iota
	// people are signed in.
	people
	// proven are people who proved their identity within minutes: for what hands out power.
	proven
	// admins look after the others. To everybody else their pages do not exist.
	admins
	// provenAdmins are both.
	provenAdmins
)

// needs says what each of them takes.
var needs = map[who]struct{ session, proof, admin bool }{
	anybody:      {},
	people:       {session: true},
	proven:       {session: true, proof: true},
	admins:       {session: true, admin: true},
	provenAdmins: {session: true, proof: true, admin: true},
}

// page is one row of the table of pages.
type page struct {
	// method is GET, which takes HEAD along, or POST.
	method string
	// path goes on after /account/, in the form of [http.ServeMux].
	path  string
	who   who
	serve func(*visit) error
	// body bounds what may be sent to it; 0 means maxForm.
	body int64
	// back is the path of the page with the form, to which a visitor returns after a proof: nobody comes back to a
	// POST. Empty means the page's own path.
	back string
}

// maxForm is more than any form of ours holds.
const maxForm = 64 << 10

// pages are all there are, family by family. A family has a file.
func (h *Handler) pages() []page {
	return slices.Concat(
		h.signInPages(),
		h.homePages(),
		h.answerPages(),
		h.proofPages(),
		h.calendarPages(),
		h.trashPages(),
		h.linkedPages(),
		h.connectPages(),
		h.appPages(),
		h.webhookPages(),
		h.journalPages(),
		h.consentPages(),
		h.accountPages(),
		h.digestPages(),
		h.securityPages(),
		h.peoplePages(),
		h.groupPages(),
	)
}

// showing is a page that shows its content by a template, and does nothing else.
func showing[T any](template string, content func(*visit) (T, error)) func(*visit) error {
	return func(v *visit) error {
		c, err := content(v)
		if err != nil {
			return err
		}
		return v.show(template, c)
	}
}

// showAgain shows such a page again, with the error of a form in it.
func showAgain[T any](v *visit, template string, content func(*visit) (T, error), wrong error) error {
	c, err := content(v)
	if err != nil {
		return err
	}
	return v.again(template, c, wrong)
}

// get and post make rows.
func get(path string, who who, serve func(*visit) error) page {
	return page{method: http.MethodGet, path: path, who: who, serve: serve}
}

func post(path string, who who, serve func(*visit) error) page {
	return page{method: http.MethodPost, path: path, who: who, serve: serve}
}
