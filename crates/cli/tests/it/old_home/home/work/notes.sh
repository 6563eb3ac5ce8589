printf '%s' "$NOTES_TOKEN" > token.txt
exec switchboard-testkit given --offers notes.json
