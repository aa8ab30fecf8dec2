package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// consent registers an assistant and returns its consent page.
func (w *walker) consent() (string, error) {
	redirect := w.back.URL + "/callback"
	r, err := http.NewRequestWithContext(w.tab, http.MethodPost, strings.TrimSuffix(w.root, "account/")+
		"oauth/register",
		strings.NewReader(`{"client_name":"An assistant with a name that goes on for longer than anybody thought it `+
			`would","redirect_uris":["`+redirect+`"]}`))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.ID == "" {
		return "", fmt.Errorf("no assistant may register: %d, %w", answer.StatusCode, err)
	}
	return "allow?" + url.Values{
		"response_type": {"code"}, "client_id": {made.ID}, "redirect_uri": {redirect},
		"code_challenge_method": {"S256"}, "code_challenge": {strings.Repeat("a", 43)},
	}.Encode(), nil
}
