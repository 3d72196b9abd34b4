# The words of What to Watch in English. Every other catalogue has the same messages with the same arguments.
# Messages of scripts begin with `script-`. There `count` selects the plural and `shown` is its text.

## The frame of all pages

-product = What to Watch
brand = { -product }
brand-short = Watch
brand-description = A watch list for friends
page-title = { $title } · { -product }
page-of = { $name }
layout-skip = Skip to the content
layout-main = Main
layout-new = new
place-list = List
place-films = Films
place-tonight = Tonight
place-friends = Friends
place-account = Account
day =
    { $month ->
        [1] Jan
        [2] Feb
        [3] Mar
        [4] Apr
        [5] May
        [6] Jun
        [7] Jul
        [8] Aug
        [9] Sep
        [10] Oct
        [11] Nov
        *[12] Dec
    } { $day }, { $year }

## What several pages have

genre = Genre
decade = Decade
decade-of = { $year }s
any = Any
none = None
priority = Priority
priority-name =
    { $priority ->
        [1] maybe
        [2] some day
        [3] would like to
        [4] soon
        *[5] can't wait
    }
priority-label = Priority { $priority }: { $name }
priority-choice = { $priority } { $name }
rating = Rating
minutes = { $minutes } min
kind = Kind
kind-choice =
    { $kind ->
        [film] Films
        *[series] Series
    }
series-seasons =
    { $count ->
        [0] Series
        [one] Series, 1 season
        *[other] Series, { $count } seasons
    }
season-episodes =
    Season { $season }: { $episodes ->
        [one] 1 episode
        *[other] { $episodes } episodes
    }
season-progress =
    { $watched } of { $seasons ->
        [one] 1 season
        *[other] { $seasons } seasons
    } watched
season-progress-open =
    { $watched ->
        [one] 1 season watched
        *[other] { $watched } seasons watched
    }
season-new = New season
times = , { $count } times
films =
    { $count ->
        [one] 1 film
        *[other] { $count } films
    }
name = Name
password = Password
password-new = New password
password-yours = Your password
password-hint = At least { $count } characters.
copy = Copy
share = Share
edit = Edit
edit-film = Edit { $film }
undo = Undo
save = Save
cancel = Cancel
saved = Saved.
and-more = And { $count } more.
pages = Pages
page = Page { $page }
page-of-pages = Page { $page } of { $pages }
previous = Previous
next = Next
private = Private
sign-up-who = Who may sign up?
sign-up-invited = People with an invitation
sign-up-everyone = Everyone
link-once = Send this link; it is shown only now
make-link = Make a link
invite = Invite a new user
invite-hint = Send a friend a link. It works once, within { $days } days, and whoever signs up with it is your friend.

## Errors

error-not-found = Nothing here
error-invalid = Not done
error-too-many = Slow down
error-failed = That went wrong
go-to-list = Go to your list
no-such =
    there is no such { $thing ->
        [change] change
        [conflict] conflict
        [feed] feed
        [file] file
        [entry] film on the list
        [to-watch] film to watch on the list
        [film] film
        [import] import
        [invitation] invitation
        [link] link
        [tag] list of this name
        [page] page
        [passkey] passkey
        [person] person
        [request] request
        [secret] secret
        [series] series
        *[token] token
    }
too-many-tries =
    too many tries; wait { $seconds ->
        [one] 1 second
        *[other] { $seconds } seconds
    } and try again
signed-out = You are no longer signed in: nothing was done.
server-busy = The server has too much to do: try again in a moment.
server-failed = Something went wrong here; the server's log says what.
as-is = { $text }
form-malformed = The form isn't filled in as it should be.
form-foreign = This form is too old, or not one of this site: go back, load the page again, and send it once more.
from-elsewhere = This came from another site, and was not done.
method-wrong = this can't be done with this address
too-large = this is too large
too-long = this took too long
request-wrong = the address or what was sent with it isn't as it should be
password-wrong = This is not your password.
password-short = Take a password of at least { $count } characters.
password-long = Take a password of at most { $count } bytes.
kind-wrong = A kind is film or series.
minutes-no-number = The running time is a number of minutes.
name-mixed = Use letters of one alphabet, in their usual form: another name could look the same.
name-wrong = Take a name of 2 to 30 letters, digits, dots, hyphens and underscores.
name-invisible = Take a name with a letter or a digit in it.
name-taken = This name can't be had: take another one.
title-invisible = A film needs a title with a letter, a digit or a sign in it.
title-long = A title has at most { $count } characters.
year-wrong = A film's year is between { $first } and { $last }.
end-year-wrong = A series does not end before it begins.
seasons-max = A series has at most { $count } seasons.
minutes-wrong = A running time is between { $first } and { $last } minutes.
films-added-max = You have added { $count } films: ask the owner to import more.
film-removal-late = A film is removed within an hour after it was added; later the owner of the server does it.
priority-wrong = A priority is between 1 and 5.
rating-wrong = A rating is between 1 and 10.
day-wrong = Write a day as 2026-01-31.
days-max = A film has at most { $count } days on which you watched it.
note-long = A note has at most { $count } characters.
tag-wrong = The name of a list has at most { $count } characters, a visible one among them, and no comma.
tags-max = A film is on at most { $count } lists.
list-full = A list holds at most { $count } films.
token-name-wrong = Name the token, in at most { $count } characters.
tokens-max = Revoke a token before you make another.
owner-stays = The server is yours: while others use it, your account stays.
owner-not-suspended = The owner of the server can't be suspended.
own-name = This is your own name.
invitations-max = You have too many invitations open: take one back.
requests-max = Too many requests are open: take one back.
operations-max = A transmission has at most { $count } operations.
operation-no-id = An operation needs an id.
operation-empty = An operation changes a field.
operation-removal = An operation that takes a film off the list changes nothing else.
operation-value = This is no value for { $field }.
sync-other-user = These changes are another user's. They stay on the device.
friend-already = { $name } is your friend already.
friend-blocked = You have blocked { $name }: unblock them first.
people-max = At most { $count } can choose together.
the-file = The file
archive-files-max = The archive has more than { $count } files.
archive-bytes-max = The files of the archive have more than { $count } MB.
archive-bad =
    The { $what ->
        [archive] archive
        *[file] file
    } can't be unpacked: { $error }.
archive-no-list = The archive has no list as Letterboxd, Trakt, IMDb or this site export it.
rows-max = The file has more than { $count } films.
file-bad = { $file }: { $why }
line-bad = { $file }, line { $line }: { $why }
line-note-cut = { $file }, line { $line }: the note has more than { $count } characters, and is cut.
item-bad = { $file }, item { $item }: { $why }
csv-bad = This is no list as CSV: { $error }.
csv-no-header = This is no list as CSV: the first line has no names of columns.
csv-no-number = "{ $text }" should be a number.
csv-no-day = "{ $text }" should be a day, as 2026-01-31.
csv-no-yes = "{ $text }" should be yes or no.
file-choose = Choose a file first.
file-large = The file is larger than 4 MB.
form-cut = The form did not arrive whole: send it again.

## Your list

list = Your list
list-parts = Parts of the list
list-to-watch = To watch
list-watched = Watched
list-find = Find films
list-filter = Filter and order
list-order = Order
list-sort =
    { $sort ->
        [added] Last added
        [title] Title
        [year] Year
        *[priority] My order
    }
list-show = Show
list-none-fits = Nothing on the list fits.
list-show-all = Show all
list-empty = Nothing on your list yet.
list-empty-hint = Find a film or series and add it, or bring your list from Letterboxd, Trakt or IMDb.
list-find-one = Find a film
list-import = Import a list
list-watched-empty = Nothing watched yet. Mark a film of your list as watched, and it is here with its day and your rating.
list-show-yours = Show your list
list-mark-watched = Mark { $film } as watched
list-more = More
list-more-for = More for { $film }
list-top = To the top
list-top-film = Move { $film } to the top
list-up = Up
list-up-film = Move { $film } up
list-down = Down
list-down-film = Move { $film } down
list-season = Season { $season }
list-mark-season = Mark season { $season } of { $film } as watched
list-all-seasons = All seasons watched
list-all-seasons-film = All seasons watched: { $film }
list-again = Watched again today
list-again-film = Watched again today: { $film }
list-take-off = Take off the list
list-take-off-film = Take off the list: { $film }
some-films = films
quoted = “{ $film }”
done-added = Added { $film } to your list.
done-saved = Saved { $film }.
done-removed = Took { $film } off your list.
done-watched = Marked { $film } as watched.
done-season = Marked a season of { $film } as watched.
done-present = It was on your list already.
done-moved-all = Moved.
done-moved = Moved { $film }.
done-shared = Your friends see this list, with its films that are not private.
done-unshared = Only you see this list.
done-renamed = The list has another name.
done-chosen = Chosen for { $film }.
done-undone = Undone.
done-undone-part = Undone, except what was changed again since then. That stays as it is.
done-undone-nothing = Nothing is undone: it was changed again since then.
done-gone = The film is removed.
undo-what = Undo: { $what }

## Lists with names

names = Lists
names-yours = Your lists
names-all = All
names-chip = List: { $list }
names-hide = Show it to nobody
names-show = Show it to my friends
names-rename = Rename this list
names-new = New name
names-hint = Without a name the list ends. Its films stay on your list.
names-button = Rename

## What two devices changed differently

conflict-notice = Two devices changed the same without knowing of each other. Choose: { $films }
conflict = Two devices changed this
conflict-here = Your list says: { $value }
conflict-there = The other device says: { $value }
conflict-keep = Keep
conflict-keep-film = Keep what your list says about { $film }
conflict-other = Use the other
conflict-other-film = Use the other: what another device says about { $film }
conflict-listed = on the list
conflict-unlisted = taken off the list
conflict-priority = priority { $priority }, { $name }
conflict-public = your friends see it
conflict-private = private
conflict-watched = watched
conflict-unwatched = not watched
conflict-no-note = no note
conflict-place = another place
conflict-no-tags = no lists
conflict-tags = lists: { $lists }

## Films

add = Add
add-film = Add { $film }
add-priority = Priority of { $film }
add-watched = You have watched it
add-listed = On your list
film-edit =
    { $kind ->
        [film] Edit film
        *[series] Edit series
    }
film-original = Original title: { $title }
film-with = With { $names }
film-tmdb = Poster and synopsis come from TMDB (themoviedb.org). This product uses the TMDB API but is not endorsed or certified by TMDB.
film-put = Put it on your list
film-private = Private { $hint }
film-private-hint = your friends don't see it
film-watched = Watched
film-have-watched = I have watched it
film-on = On
film-have-watched-series = I have watched it whole
film-finished-on = Finished on
film-seasons-watched = Seasons watched
film-seasons-up-to = up to season { $season }
film-seasons-all =
    { $count ->
        [one] the only one
        *[other] all { $count }
    }
film-earlier = Earlier days
film-earlier-hint = If you watched it more than once: days as 2026-01-31, with commas between them.
film-lists = Lists { $hint }
film-lists-private = only you see them, unless you show one to your friends
film-lists-hint = Names of your own, with commas between them: Halloween, With the kids.
film-note = Note { $hint }
film-note-private = only you see it
film-add = Add to the list
film-friends = Friends
film-friend-watched = { $name } has watched it
film-friend-seasons =
    { $name } has watched { $count ->
        [one] 1 season
        *[other] { $count } seasons
    } of it
film-friend-wants = { $name } wants to watch it
find = Find a film or series
find-what = Title, year, person or genre
find-button = Search
find-missing = Is a film or series missing? { $add }.
find-missing-add = Add it
find-no-more = There is nothing more.
find-nothing = Nothing found.
find-guess = Nothing is called “{ $text }”. Is it one of these?
find-newest = The newest films and series
find-count =
    { $count ->
        [one] 1 result
        *[other] { $count } results
    }
find-range = Results { $first } to { $last }, the best first
new-film = Add a film or series
new-film-kind =
    { $kind ->
        [film] Film
        *[series] Series
    }
new-film-hint = All users see it. They do not see who added it.
new-film-title = Title
new-film-original = Original title
new-film-original-hint = In its own language, if it is another one.
new-film-year = Year
new-film-year-hint = Four digits
new-film-of-series = Of a series
new-film-end-year = Last year
new-film-end-year-hint = Four digits; empty if it goes on
new-film-seasons = Number of seasons
new-film-seasons-hint = A number
new-film-minutes = Running time in minutes
new-film-minutes-hint = A number of minutes
new-film-people = People
new-film-people-hint = Names, with commas between them.
new-film-genres = Genres
new-film-genres-hint = Such as Drama, Comedy.
new-film-remove = Remove the film
new-film-remove-hint = It is removed from your list and found no more. Lists of others keep it. This can’t be undone.
new-film-remove-button = Remove it

## Tonight

tonight = Tonight
tonight-question = What could we watch tonight?
tonight-hint = With friends, this finds the films that all of you want to watch.
tonight-own = On your list
tonight-own-none = No film of your list to watch is as you have chosen.
tonight-own-rank = Ranked by your priorities. The pick is a lottery among them.
tonight-find-friend = Find or invite a friend
tonight-you-and = You and
tonight-minutes = Running time
tonight-minutes-max = up to { $minutes } min
tonight-show = Show the films
tonight-pick = Pick one for us
tonight-again = Pick again
tonight-all = On all your lists
tonight-none = No film is on all of your lists. Add a film from a friend’s list to yours, or choose fewer people.
tonight-rank = Ranked by the sum of your priorities. The pick is a lottery in which each of you has equal influence.
tonight-nearly = Missing on one list
tonight-film = Film
tonight-chance = Chance
tonight-percent = { $percent }%
tonight-not-listed = not on the list

## Friends

friends = Friends
friends-feed-once = The address of your feed; it is shown only now
friends-requested = Request sent. If a user has this name, they see it.
friends-accepted = You are friends now: you see what is public on each other’s lists.
friends-declined = Declined. The sender is not told.
friends-taken-back = Taken back.
friends-unfriended = You are no longer friends.
friends-blocked-done = Blocked. Their requests no longer reach you.
friends-unblocked = Unblocked.
friends-feed-ended = The address of your feed is no longer valid.
friends-received = Requests for you
friends-yours = Your friends
friends-none = None yet. Friends see what is public on each other’s lists, and find out what to watch together.
friends-button-label = { $button }: { $name }
friends-accept = Accept
friends-decline = Decline
friends-block = Block
friends-new-of =
    { $count ->
        [one] { $count } new film of { $name }
        *[other] { $count } new films of { $name }
    }
friends-new = { $count } new
friends-tonight = Tonight
friends-tonight-with = Tonight with { $name }
friends-ask = Ask a user of this site
friends-their-name = Their name
friends-ask-button = Ask
friends-asked = You have asked
friends-take-back = Take back
friends-invitations = Open invitations
friends-made-on = Made on { $day }
friends-feed = Feed
friends-feed-hint = A secret address for a feed reader, with the films that your friends add. Everybody who has the address can read it.
friends-feed-new = Make a new address
friends-feed-end = End the feed
friends-feed-make = Make an address
friends-blocked = Blocked
friends-unblock = Unblock
feed-title = What friends add
feed-watched = { $name } has watched { $film }
feed-wants = { $name } wants to watch { $film }
person-list = { $name }’s list
person-together = Watch together
person-nothing = Nothing to see here yet.
person-end = End the friendship
person-end-hint = Neither of you sees the other’s list any more.
person-unfriend = Unfriend { $name }
person-unfriend-block = Unfriend and block
person-block-hint = The requests of a blocked user no longer reach you. They are not told.

## Your account

account = Account
sign-out = Sign out
account-token-once = Your token; it is shown only now
account-password-done = Your password is changed; you are signed out everywhere else, and your tokens are revoked.
account-elsewhere-done = You are signed out everywhere else, and your tokens are revoked.
account-elsewhere-hint = This ends your sessions on other devices and revokes your tokens.
account-revoked = The token is revoked.
account-data = Your data
account-import = { $link } from Letterboxd or IMDb
account-import-link = Bring a list
account-csv = Your list as CSV
account-letterboxd = Films you watched, as CSV for Letterboxd
account-letterboxd-watchlist = Films to watch, as CSV for Letterboxd’s watchlist
account-json = All that is kept of you, as JSON
account-password-now = Password now
account-password-change = Change it
account-devices = You are signed in on { $count } devices.
account-elsewhere = Sign out everywhere else
account-language = Language
account-language-browser = As the browser says
account-tokens = Tokens
account-tokens-hint = For programs that use { $api } in your name.
account-tokens-api = the API
account-revoke = Revoke
account-revoke-token = Revoke { $name }
account-token-what = What is it for?
account-token-make = Make a token
account-server = Your server
account-users = Users and storage
account-delete = Delete the account
account-delete-hint = With your list, your friends and everything else. It can’t be undone.
account-delete-open = Delete it
account-delete-button = Delete my account

## Signing in and up

sign-in = Sign in
sign-in-password-done = Your new password is set: sign in with it.
sign-in-deleted = Your account is deleted, with everything that was in it.
sign-in-new = New here? { $link }.
sign-in-new-link = Make an account
sign-in-invited = New here? A friend who is can send you an invitation.
sign-in-forgotten = Forgotten your password? The owner of this site can send you a link to choose a new one.
sign-in-wrong = There is no such name with this password.
sign-in-suspended = This account is suspended: ask the owner of this site.
sign-up = Make an account
sign-up-uninvited = Here one signs up with an invitation: ask a friend for one.
sign-up-over = This invitation is used up or too old: ask for another.
sign-up-host = { $name } invites you. You will be friends here.
sign-up-name-hint = Your friends see it. Letters, digits, dots, hyphens.
sign-up-button = Make the account
sign-up-there = Have one already? { $link }.
sign-up-there-link = Sign in
sign-up-no-owner = The server has no owner yet.
setup = Welcome
setup-hint = This server has no users yet. The first account owns it.
setup-code = Set-up code
setup-code-hint = It stands at the end of the address that the program printed on its terminal, or in its log.
setup-button = Begin
setup-code-wrong = This is not the code: look at the terminal again.
setup-owned = This server has an owner already.
reset = Choose a password
reset-hint = You are signed out everywhere, and your tokens and passkeys end.
reset-over = This link is used up or too old: ask for another.
reset-button = Set the password

## Passkeys

passkeys = Passkeys
passkeys-hint = A passkey signs you in without name and password: by fingerprint, face or PIN of your device, or by a security key. Your password stays good.
passkeys-no-site = There are none until the server knows its address: start it with the option --site and an address that begins with https.
passkeys-not-here = To add one, open { $address } in a browser that has passkeys and runs scripts.
passkeys-max = Remove a passkey before you add another.
passkey-made = added { $day }
passkey-used = last used { $day }
passkey-unused = not used yet
passkey-remove = Remove
passkey-remove-named = Remove { $name }
passkey-name = Where is it kept?
passkey-name-wrong = Name the passkey, in at most { $count } characters.
passkey-add = Add a passkey
passkey-added = The passkey is added: you can sign in with it.
passkey-ends = ends { $day }
passkey-ends-later = A new password was chosen with a link: this passkey ends some days later. To remove it now, sign in with a passkey.
passkeys-ending = A new password was chosen with a link. If it was not you, sign in with a passkey and choose another password within ten minutes: your passkeys stay then.
passkey-removed = The passkey is removed here. Remove it on your device too.
passkey-sign-in = Sign in with a passkey
passkey-known = This passkey is there already.
passkey-unknown = This passkey is not known here: it was removed, or the account was.
passkey-late = This took too long, or was sent twice: try again.
passkey-copied = This passkey may have been copied, and was not accepted. Sign in with your password and remove it.
passkey-refused = The passkey was not accepted.

## The users, for the owner

users = Users
user = User
users-removed = The account is deleted.
users-newer = Version { $version } of What to Watch is there. This is { $own }.
users-space = The database takes { $megabytes } MB, of which { $free } MB are free for new entries.
users-backup = Backup
users-backup-hint = A copy of the database, with the lists and notes of all users. Keep it where nobody else can read it.
users-backup-button = Download a backup
users-owner = owner
users-suspended = Suspended
users-since = since { $day }
users-films = films on the list: { $count }
users-added = films added: { $count }
user-suspended-done = Suspended, and signed out everywhere.
user-resumed = The user can sign in again.
user-facts = A user since { $day }. Films on the list: { $films }. Films added: { $added }.
user-owner = This account owns the server.
user-all = All users
user-suspend = Suspend
user-suspend-hint = A suspended user can’t sign in. Sessions, tokens, the feed and open links end. The list and the password stay.
user-resume = End the suspension
user-reset = Forgotten password
user-reset-hint = A link where the user chooses a new password. It is good once, for { $hours } hours. Until then the old password stays. With the new one all passkeys of the user are removed.
user-delete-hint = With its list, its friends and everything else. It can’t be undone.
user-password-own = Your own password
user-suspended = The user is suspended.
user-is-owner = The owner deletes their account on its own page.

## Mails

account-mail = Mail address
account-mail-hint = For a new password when you forget yours, and for news if you wish. Nobody else sees it.
account-mail-unconfirmed = Not confirmed yet: open the link in the mail.
account-mail-news = Send me requests and new films of friends
account-mail-password = Your password, for another address
account-mail-sent = A mail with a link to confirm the address is on its way.
mail-wrong = This is no mail address.
mail-hello = Hello { $name },
mail-confirm-subject = Confirm your mail address
mail-confirm = somebody entered this address at { $site }. Open this link to confirm it. If it was not you, do nothing.
mail-confirm-button = Confirm
mail-confirmed = The address is confirmed.
mail-notice-subject = Your mail address was changed
mail-notice = this is no longer the address of your account at { $site }. If it was not you, sign in and choose another password, or tell the owner of the server.
mail-reset-subject = Choose a new password
mail-reset = somebody asked for a new password for your account. Choose it here, within { $hours } hours. If it was not you, do nothing: your password stays.
mail-news-subject = News from your friends
mail-asks = { $name } asks to be your friend.
mail-films =
    { $name } has added { $count ->
        [one] 1 film
        *[other] { $count } films
    }.
mail-news-end = You can end these mails here: { $link }
sign-in-forgotten-link = Forgotten your password?
forgotten = Forgotten password
forgotten-hint = A link for a new password goes to the mail address of your account, if you have confirmed one. Otherwise ask the owner of this site.
forgotten-button = Send a link
forgotten-done = If there is such an account with a confirmed mail address, a link is on its way. It is sent every ten minutes at most.

## Restoring a backup

restore = Restore a backup
restore-hint = Everything in the database is replaced by what the backup has, for all users. Lists and passwords are then those of its day.
restore-access = All others are signed out. Tokens, passkeys, feeds, invitations and links for new passwords end.
restore-before = What is there now is kept in a file beside the database.
restore-file = Backup
restore-button = Replace everything
restore-done = Restored
restore-done-hint = The database has the content of the backup. What it had before is in the file { $file }.
restore-sign-in = The backup has another owner: sign in with an account that it has.
restore-kept = Kept from before
restore-kept-file = { $file }, { $megabytes } MB
restore-foreign = This is no backup of this app.
restore-newer = The backup has schema { $found }, and this program knows up to { $known }: use the newer program that wrote it.
restore-damaged = The backup is damaged: { $error }.
restore-schema = The backup has other tables than this app makes: somebody changed it.
restore-references = The backup is damaged: rows in it refer to rows that are missing.
restore-no-owner = Nobody owns the server in this backup.
restore-too-large = The file is larger than { $count } GB.

## Import of lists

import = Bring a list
import-file = File
import-file-hint = Letterboxd: Settings, Data, Export your data; the whole zip file, or one file of it. Trakt: Settings, Data, Export; the zip file or a JSON file. IMDb: a list or your ratings, Export. A spreadsheet saved as CSV, with a column Title. Or what this site has exported.
import-kind = The films in a CSV file
import-kind-file = are what the file’s name and columns say
import-kind-watched = were watched
import-kind-to-watch = are to be watched
import-see = See what will change
import-done = Imported
import-counts = New on your list: { $added }. Changed: { $changed }. As before: { $present }. Left out: { $left }.
import-undo = Undo the import
preview = Check the import
preview-hint = Nothing is changed yet. The file names { $films }.
preview-part = { $what }: { $count }
preview-new = New on your list
preview-changed = Changed on your list
preview-present = As before: { $count }
preview-button = Import
preview-before = Before: { $state }
preview-then = Then: { $state }
preview-watched = watched
preview-to-watch = to watch
preview-note = with a note
preview-unclear = Unclear: { $count }
preview-unclear-hint = The year is another or missing, or several films have this title. Choose which film is meant.
preview-no-year = (no year)
preview-leave-out = Leave it out
preview-other = Another film: add it to the catalogue
preview-unclear-more = The file has { $count } more. Import it again afterwards to decide on them.
preview-missing = Not known here
preview-add-missing = Add films that are not known here
preview-different = { $films } with something else in the file than here
preview-keep = Keep what is here
preview-take = Take what the file says
preview-show = Show them
preview-listed = { $films } that only lists of your own name
preview-listed-put = Put on the list, to be watched
preview-listed-leave = Leave out
preview-what =
    { $what ->
        [rating] rating
        [note] note
        [priority] priority
        *[public] seen by
    }
preview-seen-by =
    { $who ->
        [friends] friends
        *[you] only you
    }
preview-here = here: { $value }
preview-there = in the file: { $value }
preview-unread =
    Not read: { $count ->
        [one] 1 line
        *[other] { $count } lines
    }
preview-read = What was read
preview-rows =
    { $file }: { $count ->
        [one] 1 row
        *[other] { $count } rows
    }
preview-no-films = Episodes and other rows that are neither film nor series: { $count }
preview-unread-file = Not read: { $file }
columns = What becomes of each column
columns-hint = The import reads these columns so, and no others. Change what is wrong, and read the file once more.
columns-format = In the form of { $site }
columns-unknown = A form that is not known here
columns-rows =
    { $rows ->
        [watched] The films were watched, where no column says otherwise.
        *[to_watch] The films are to be watched, where no column says otherwise.
    }
columns-unread = Not read:
columns-name = Column
columns-becomes = becomes
columns-samples = The first three rows
columns-proved = (a value above 5 says so)
columns-button = Read the file so
columns-bad = The columns are not JSON with what they become: { $error }.
means =
    { $what ->
        [title] the title
        [original_title] the original title
        [year] the year
        [release_date] the year, of a date
        [kind] film or series
        [imdb] the number at IMDb
        [tmdb] the number at TMDB
        [number] the number at that site
        [number_of] the site of the number
        [link] the address of the film
        [log] the address of the viewing
        [last_year] the last year of a series
        [seasons] the number of seasons
        [seasons_watched] the number of seasons watched
        [last_episode] the last episode watched
        [season] the season
        [episode] the episode
        [genres] the genres
        [directors] the directors
        [minutes] the running time
        [watched] watched or not
        [status] watched or not, in words
        [watched_on] the day on which it was watched
        [watched_before] earlier days on which it was watched
        [rating_5] your rating, out of 5
        [rating_10] your rating, out of 10
        [rating_100] your rating, out of 100
        [rating] your rating, of unknown scale: not read
        [rated_on] the day on which it was watched, if you rated it
        [priority] the priority
        [public] who sees it
        [note] the note
        [tags] names of lists
        [profile] whose row it is
        [aside] rows with something here are left out
        *[unread] nothing: it is not read
    }
ask = The file does not say everything. Nothing can be imported before you have answered:
ask-title = Which column has the titles?
ask-scale = Out of how many are the ratings in the column { $column }? Choose it in the table, or that they are not read.
ask-day-first = Is the first number of { $day } the day or the month?
ask-profile = Whose films are meant?
day-first = the day
month-first = the month
import-zone = Your time zone. Times in the file become days in it
zone-unknown = The time zone { $zone } is not known. One is Europe/Berlin, or +02:00.
csv-no-status = “{ $text }” should say whether it was watched.
csv-no-rating = “{ $text }” is no rating from 0 to { $max }.
csv-more-fields = The line has { $fields } fields, and the header { $columns }.
json-bad = { $file } is not JSON with a list of films: { $error }.
preview-no-room = No room
preview-dropped = Rows that the file calls dropped: { $count }
import-no-room = There is no room for { $count ->
        [one] 1 film
        *[other] { $count } films
    }. A list has at most { $list } films, and imports of one user add as many with a number at another site and { $others } others. The owner of the server can add films with import-films. Import the file again afterwards: what is here stays.

## The API and other pages

api = The API
api-hint = Everything below is under { $prefix }, takes and gives JSON, and wants a token from { $account }. For programs it is described in { $openapi }.
api-account = your account
api-errors = An error has a status of 400 or more, and says in { $error } what was wrong.
api-takes = Takes { $takes }, gives { $gives }.
api-gives = Gives { $gives }.
offline = No connection
offline-hint = Your list is on the server, and the server can’t be reached just now.
offline-again = Try again

## The scripts

script-kept = No connection. The change is kept on this device, and sent later.
script-unsent = No connection: the form was not sent. Send it again when the connection is back.
script-back = The connection is back. Save what you typed, or load the page without it.
script-load = Load the page
script-shown = The list is shown.
script-none-fits = No film fits.
script-copied = Copied
script-kept-here = Kept on this device.
script-top = To the top
script-up = Up
script-down = Down
script-priority = Priority
script-private = Private
script-have-watched = I have watched it
script-on = On
script-earlier = Earlier days, as 2026-01-31, with commas between them
script-rating = Rating
script-none = None
script-note = Note
script-lists = Lists, with commas between them
script-save = Save
script-take-off = Take off the list
script-watched = Watched
script-season = Season { $season }
script-seasons-watched = Seasons watched
script-season-progress = Seasons watched: { $watched } of { $seasons }
script-season-progress-open = Seasons watched: { $watched }
script-times =
    { $count ->
        [one] { $shown } time
        *[other] { $shown } times
    }
script-priority-of = Priority { $priority }
script-change = Change
script-add-seen = Add a film that this device has seen
script-add = Add
script-refused = A change of “{ $film }” could not be sent: { $reason }
script-days-wrong = Write days as 2026-01-31, at most { $most } of them.
script-lists-wrong = A film is on at most { $most } lists. Their names have at most { $length } characters, a visible one among them.
script-note-wrong = A note has at most { $most } characters.
script-to-film = Open the film
script-discard = Discard it
script-more = Show more
script-list = Your list
script-offline = No connection.
script-copy = This is the copy on this device.
script-waits =
    { $count ->
        [one] { $shown } change waits on this device.
        *[other] { $shown } changes wait on this device.
    }
script-to-watch = To watch
script-passkey-not-done = Not done: it was cancelled, or took too long.
script-passkey-there = This device has a passkey for this account already.
script-passkey-failed = That did not work. Load the page again, and try once more.
