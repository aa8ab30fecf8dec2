package service

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// Made is a webhook, a share or a linked account that a token created. Exactly one of the three is set.
type Made struct {
	Maker   calendar.Actor
	Webhook *calendar.Webhook
	Share   *calendar.Offer
	Account *calendar.Account
}

// Key returns a key that is unique per user.
func (m Made) Key() string {
	switch {
	case m.Webhook != nil:
		return "webhook " + string(m.Webhook.ID)
	case m.Share != nil:
		return "share " + string(m.Share.Invitation())
	}
	return "account " + string(m.Account.ID)
}

// MadeBy returns the webhooks, shares and linked accounts that a token of the caller created and that still exist,
// even if the token has expired. An empty token selects all tokens.
func (s *Service) MadeBy(ctx context.Context, c calendar.Caller, token calendar.TokenID) ([]Made, error) {
	all, err := s.madeByTokens(ctx, c)
	return slices.DeleteFunc(all, func(m Made) bool { return token != "" && m.Maker.Token != token }), err
}

func (s *Service) madeByTokens(ctx context.Context, c calendar.Caller) ([]Made, error) {
	hooks, err := s.Webhooks(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []Made
	for _, w := range hooks {
		if w.Maker.Token != "" {
			all = append(all, Made{Maker: w.Maker, Webhook: &w})
		}
	}
	accounts, err := s.Mirrors.LinkedAccounts(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, l := range accounts {
		if l.Maker.Token != "" {
			all = append(all, Made{Maker: l.Maker, Account: &l.Account})
		}
	}
	calendars, err := s.CalendarsInHome(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, cal := range calendars {
		if !cal.Shared || cal.Access != calendar.OwnerAccess {
			continue
		}
		shares, err := s.Shares(ctx, c, cal.ID)
		if err != nil {
			return nil, err
		}
		for _, one := range shares {
			if one.Maker.Token != "" && one.Status != calendar.ShareDeclined {
				all = append(all, Made{Maker: one.Maker, Share: &calendar.Offer{Share: one, From: cal}})
			}
		}
	}
	return all, nil
}

// Unmake deletes the webhook, ends the share, or unlinks the account and moves its calendars to the trash.
func (s *Service) Unmake(ctx context.Context, c calendar.Caller, m Made) error {
	switch {
	case m.Webhook != nil:
		return s.RemoveWebhook(ctx, c, m.Webhook.ID)
	case m.Share != nil:
		return s.Unshare(ctx, c, m.Share.Calendar, m.Share.User.Name)
	}
	return s.Mirrors.Unlink(ctx, c, m.Account.ID, false)
}
