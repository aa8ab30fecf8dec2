package web

import (
	"net/http"

	"caldav-mcp-server/calendar"
)

// answerPages are for people without an account who were invited by mail. Virus scanners open links in mails, so
// opening one changes nothing.
func (h *Handler) answerPages() []page {
	if h.Answers == nil {
		return nil
	}
	return []page{
		get(answerPath+"{token}", anybody, showing("answer", answerPages.invitationForm)),
		post(answerPath+"{token}", anybody, answerPages.answerInvitation),
	}
}

// answerPath is the path of the links in mails.
const answerPath = "answer/"

// AnswerPath is the same path, below the path of BASE_URL.
const AnswerPath = root + answerPath

// answerContent is the data of the answer page.
type answerContent struct {
	calendar.Asked
	// Said is the present answer in words; Given is set if it was given just now.
	Said  string
	Given bool
	// Choices are the possible answers, Comment is the text with one.
	Choices []given
	Comment string
	// Why is the text with a proposal.
	Why string
	// Proposed is set if another time was proposed just now; From and To are the values of its fields.
	Proposed bool
	From, To string
}

// given is an answer: its button, and its words once it is given.
type given struct{ Status, Label, words string }

var givens = []given{ // with ids of texts
	{"ACCEPTED", "planner.reply.accepted", "answer.accepted"},
	{"TENTATIVE", "planner.reply.tentative", "answer.tentative"},
	{"DECLINED", "planner.reply.declined", "answer.declined"},
}

// answerPages let people without an account answer an invitation that they got by mail.
type answerPages struct{ *pageRequest }

// said returns an answer in words; empty if there is none.
func (p answerPages) said(status string) string {
	for _, g := range givens {
		if g.Status == status {
			return p.lang.Text(g.words)
		}
	}
	return ""
}

func (p answerPages) choices() []given {
	var all []given
	for _, g := range givens {
		all = append(all, given{g.Status, p.lang.Text(g.Label), ""})
	}
	return all
}

func (p answerPages) invitationForm() (answerContent, error) {
	asked, err := p.Answers.Open(p.r.Context(), p.r.PathValue("token"), p.lang.Tag())
	return answerContent{
		Asked: asked, Said: p.said(asked.Status), Choices: p.choices(), From: asked.Start, To: asked.End,
	}, err
}

// proposes is the value of the button that proposes another time.
const proposes = "PROPOSED"

func (p answerPages) answerInvitation() error {
	ctx, token, comment := p.r.Context(), p.r.PathValue("token"), p.field("comment")
	content := answerContent{Choices: p.choices()}
	var asked calendar.Asked
	var err error
	if content.Proposed = p.field("answer") == proposes; content.Proposed {
		content.From, content.To, content.Why = p.field("start"), p.field("end"), comment
		asked, err = p.Answers.Propose(ctx, token, p.lang.Tag(), content.From, content.To, comment)
	} else {
		asked, err = p.Answers.Give(ctx, token, p.lang.Tag(), p.field("answer"), comment)
		content.From, content.To, content.Comment = asked.Start, asked.End, comment
	}
	content.Asked, content.Said = asked, p.said(asked.Status)
	if err != nil {
		content.Proposed = false
	}
	if err != nil && asked.Recipient != "" {
		return p.again("answer", content, err)
	}
	if err != nil {
		return err
	}
	content.Given = !content.Proposed
	return p.write(http.StatusOK, "answer", content, "")
}
