# Die Texte von What to Watch auf Deutsch, mit „du“.

## The frame of all pages

-product = What to Watch
brand = { -product }
brand-short = Watch
brand-description = Eine Merkliste für Filmabende mit Freunden
page-title = { $title } · { -product }
page-of = { $name }
layout-skip = Zum Inhalt springen
layout-main = Hauptmenü
layout-new = neu
place-list = Liste
place-films = Filme
place-tonight = Heute
place-friends = Freunde
place-account = Konto
day =
    { $day ->
        [1] 01
        [2] 02
        [3] 03
        [4] 04
        [5] 05
        [6] 06
        [7] 07
        [8] 08
        [9] 09
        *[other] { $day }
    }.{ $month ->
        [1] 01
        [2] 02
        [3] 03
        [4] 04
        [5] 05
        [6] 06
        [7] 07
        [8] 08
        [9] 09
        *[other] { $month }
    }.{ $year }

## What several pages have

genre = Genre
decade = Jahrzehnt
decade-of = { $year }er
any = Alle
none = Keine
priority = Priorität
priority-name =
    { $priority ->
        [1] vielleicht
        [2] irgendwann
        [3] gern
        [4] bald
        *[5] unbedingt
    }
priority-label = Priorität { $priority }: { $name }
priority-choice = { $priority } { $name }
rating = Bewertung
minutes = { $minutes } Min.
kind = Art
kind-choice =
    { $kind ->
        [film] Filme
        *[series] Serien
    }
series-seasons =
    { $count ->
        [0] Serie
        [one] Serie, 1 Staffel
        *[other] Serie, { $count } Staffeln
    }
season-episodes =
    Staffel { $season }: { $episodes ->
        [one] 1 Folge
        *[other] { $episodes } Folgen
    }
season-progress =
    { $watched } von { $seasons ->
        [one] 1 Staffel
        *[other] { $seasons } Staffeln
    } gesehen
season-progress-open =
    { $watched ->
        [one] 1 Staffel gesehen
        *[other] { $watched } Staffeln gesehen
    }
season-new = Neue Staffel
times = , { $count }-mal
films =
    { $count ->
        [one] 1 Film
        *[other] { $count } Filme
    }
name = Name
password = Passwort
password-new = Neues Passwort
password-yours = Dein Passwort
password-hint = Mindestens { $count } Zeichen.
copy = Kopieren
share = Teilen
edit = Bearbeiten
edit-film = { $film } bearbeiten
undo = Rückgängig
save = Speichern
cancel = Abbrechen
saved = Gespeichert.
and-more = Und { $count } weitere.
pages = Seiten
page = Seite { $page }
page-of-pages = Seite { $page } von { $pages }
previous = Zurück
next = Weiter
private = Privat
sign-up-who = Wer darf ein Konto anlegen?
sign-up-invited = Wer eine Einladung hat
sign-up-everyone = Alle
link-once = Verschicke diesen Link; er wird nur jetzt gezeigt
make-link = Link erstellen
invite = Jemanden einladen
invite-hint = Schicke einer Person einen Link. Er gilt einmal und { $days } Tage lang. Wer damit ein Konto anlegt, ist mit dir befreundet.

## Errors

error-not-found = Hier ist nichts
error-invalid = Nicht ausgeführt
error-too-many = Nicht so schnell
error-failed = Das ging schief
go-to-list = Zu deiner Liste
no-such =
    { $thing ->
        [change] diese Änderung
        [conflict] diesen Konflikt
        [feed] diesen Feed
        [file] diese Datei
        [entry] diesen Film auf der Liste
        [to-watch] diesen ungesehenen Film auf der Liste
        [film] diesen Film
        [import] diesen Import
        [invitation] diese Einladung
        [link] diesen Link
        [tag] eine Liste mit diesem Namen
        [page] diese Seite
        [passkey] diesen Passkey
        [person] diese Person
        [request] diese Anfrage
        [secret] dieses Geheimnis
        [series] diese Serie
        *[token] dieses Token
    } gibt es nicht
too-many-tries =
    zu viele Versuche; warte { $seconds ->
        [one] 1 Sekunde
        *[other] { $seconds } Sekunden
    } und versuche es noch einmal
signed-out = Du bist nicht mehr angemeldet. Es wurde nichts getan.
server-busy = Der Server hat zu viel zu tun. Versuche es gleich noch einmal.
server-failed = Hier ging etwas schief. Was, steht im Protokoll des Servers.
as-is = { $text }
form-malformed = Das Formular ist nicht richtig ausgefüllt.
form-foreign = Dieses Formular ist zu alt oder nicht von dieser Seite. Geh zurück, lade die Seite neu und sende es noch einmal.
from-elsewhere = Das kam von einer anderen Website und wurde nicht ausgeführt.
method-wrong = mit dieser Adresse geht das nicht
too-large = das ist zu groß
too-long = das hat zu lange gedauert
request-wrong = die Adresse oder was mit ihr gesendet wurde, ist nicht, wie es sein soll
password-wrong = Das ist nicht dein Passwort.
password-short = Nimm ein Passwort mit mindestens { $count } Zeichen.
password-long = Nimm ein Passwort mit höchstens { $count } Byte.
kind-wrong = Die Art ist film oder series.
minutes-no-number = Die Laufzeit ist eine Zahl von Minuten.
name-mixed = Nimm Buchstaben eines Alphabets in ihrer üblichen Form. Sonst kann ein anderer Name gleich aussehen.
name-wrong = Nimm einen Namen aus 2 bis 30 Buchstaben, Ziffern, Punkten, Binde- und Unterstrichen.
name-invisible = Nimm einen Namen, in dem ein Buchstabe oder eine Ziffer vorkommt.
name-taken = Diesen Namen kannst du nicht haben. Nimm einen anderen.
title-invisible = Ein Film braucht einen Titel mit einem Buchstaben, einer Ziffer oder einem Zeichen.
title-long = Ein Titel hat höchstens { $count } Zeichen.
year-wrong = Das Jahr eines Films liegt zwischen { $first } und { $last }.
end-year-wrong = Eine Serie endet nicht, bevor sie beginnt.
seasons-max = Eine Serie hat höchstens { $count } Staffeln.
minutes-wrong = Eine Laufzeit liegt zwischen { $first } und { $last } Minuten.
films-added-max = Du hast { $count } Filme hinzugefügt. Bitte die Person, der die Seite gehört, mehr zu importieren.
film-removal-late = Ein Film wird bis zu eine Stunde nach dem Hinzufügen entfernt. Später entfernt ihn nur noch die Person, der der Server gehört.
priority-wrong = Eine Priorität liegt zwischen 1 und 5.
rating-wrong = Eine Bewertung liegt zwischen 1 und 10.
day-wrong = Schreibe einen Tag wie 2026-01-31.
days-max = Ein Film hat höchstens { $count } Tage, an denen du ihn gesehen hast.
note-long = Eine Notiz hat höchstens { $count } Zeichen.
tag-wrong = Der Name einer Liste hat höchstens { $count } Zeichen, darunter ein sichtbares und kein Komma.
tags-max = Ein Film steht auf höchstens { $count } Listen.
list-full = Eine Liste fasst höchstens { $count } Filme.
token-name-wrong = Gib dem Token einen Namen mit höchstens { $count } Zeichen.
tokens-max = Widerrufe ein Token, bevor du ein weiteres erstellst.
owner-stays = Der Server gehört dir. Solange andere ihn benutzen, bleibt dein Konto.
owner-not-suspended = Das Konto, dem der Server gehört, kann nicht gesperrt werden.
own-name = Das ist dein eigener Name.
invitations-max = Du hast zu viele offene Einladungen. Nimm eine zurück.
requests-max = Zu viele Anfragen sind offen. Nimm eine zurück.
operations-max = Eine Übertragung hat höchstens { $count } Änderungen.
operation-no-id = Eine Änderung braucht eine Kennung.
operation-empty = Eine Änderung ändert ein Feld.
operation-removal = Eine Änderung, die einen Film von der Liste nimmt, ändert sonst nichts.
operation-value = Das ist kein Wert für { $field }.
sync-other-user = Diese Änderungen sind von einem anderen Konto. Sie bleiben auf dem Gerät.
friend-already = Mit { $name } bist du schon befreundet.
friend-blocked = Du hast { $name } blockiert. Hebe das zuerst auf.
people-max = Höchstens { $count } können zusammen wählen.
the-file = Die Datei
archive-files-max = Das Archiv hat mehr als { $count } Dateien.
archive-bytes-max = Die Dateien des Archivs haben mehr als { $count } MB.
archive-bad =
    { $what ->
        [archive] Das Archiv
        *[file] Die Datei
    } lässt sich nicht entpacken: { $error }.
archive-no-list = Das Archiv hat keine Liste, wie Letterboxd, Trakt, IMDb oder diese Seite sie exportieren.
rows-max = Die Datei hat mehr als { $count } Filme.
file-bad = { $file }: { $why }
line-bad = { $file }, Zeile { $line }: { $why }
line-note-cut = { $file }, Zeile { $line }: Die Notiz hat mehr als { $count } Zeichen und wird gekürzt.
item-bad = { $file }, Eintrag { $item }: { $why }
csv-bad = Das ist keine Liste als CSV: { $error }.
csv-no-header = Das ist keine Liste als CSV: In der ersten Zeile stehen keine Namen von Spalten.
csv-no-number = „{ $text }“ sollte eine Zahl sein.
csv-no-day = „{ $text }“ sollte ein Tag sein wie 2026-01-31.
csv-no-yes = „{ $text }“ sollte yes oder no sein.
file-choose = Wähle zuerst eine Datei.
file-large = Die Datei ist größer als 4 MB.
form-cut = Das Formular ist nicht ganz angekommen. Sende es noch einmal.

## Your list

list = Deine Liste
list-parts = Teile der Liste
list-to-watch = Zu sehen
list-watched = Gesehen
list-find = Filme finden
list-filter = Filtern und ordnen
list-order = Reihenfolge
list-sort =
    { $sort ->
        [added] Zuletzt hinzugefügt
        [title] Titel
        [year] Jahr
        *[priority] Meine
    }
list-show = Zeigen
list-none-fits = Nichts auf der Liste passt.
list-show-all = Alle zeigen
list-empty = Noch nichts auf deiner Liste.
list-empty-hint = Suche einen Film oder eine Serie und setze sie auf die Liste, oder bring deine Liste von Letterboxd, Trakt oder IMDb mit.
list-find-one = Film suchen
list-import = Liste importieren
list-watched-empty = Noch nichts gesehen. Markiere einen Film deiner Liste als gesehen, dann steht er hier mit Tag und Bewertung.
list-show-yours = Deine Liste zeigen
list-mark-watched = { $film } als gesehen markieren
list-more = Mehr
list-more-for = Mehr zu { $film }
list-top = Nach oben
list-top-film = { $film } ganz nach oben
list-up = Höher
list-up-film = { $film } höher
list-down = Tiefer
list-down-film = { $film } tiefer
list-season = Staffel { $season }
list-mark-season = Staffel { $season } von { $film } als gesehen markieren
list-all-seasons = Alle Staffeln gesehen
list-all-seasons-film = Alle Staffeln gesehen: { $film }
list-again = Heute wieder gesehen
list-again-film = { $film } heute wieder gesehen
list-take-off = Von der Liste nehmen
list-take-off-film = { $film } von der Liste nehmen
some-films = Filme
quoted = „{ $film }“
done-added = { $film } auf deine Liste gesetzt.
done-saved = { $film } gespeichert.
done-removed = { $film } von deiner Liste genommen.
done-watched = { $film } als gesehen markiert.
done-season = Eine Staffel von { $film } als gesehen markiert.
done-present = Das stand schon auf deiner Liste.
done-moved-all = Verschoben.
done-moved = { $film } verschoben.
done-shared = Deine Freunde sehen diese Liste mit den Filmen, die nicht privat sind.
done-unshared = Nur du siehst diese Liste.
done-renamed = Die Liste heißt jetzt anders.
done-chosen = Für { $film } ausgewählt.
done-undone = Rückgängig gemacht.
done-undone-part = Rückgängig gemacht, außer was seitdem noch einmal geändert wurde. Das bleibt, wie es ist.
done-undone-nothing = Nichts ist rückgängig gemacht: Es wurde seitdem noch einmal geändert.
done-gone = Der Film ist entfernt.
undo-what = Rückgängig: { $what }

## Lists with names

names = Listen
names-yours = Deine Listen
names-all = Alle
names-chip = Liste: { $list }
names-hide = Niemandem zeigen
names-show = Meinen Freunden zeigen
names-rename = Diese Liste umbenennen
names-new = Neuer Name
names-hint = Ohne Namen endet die Liste. Ihre Filme bleiben auf deiner Liste.
names-button = Umbenennen

## What two devices changed differently

conflict-notice = Zwei Geräte haben dasselbe geändert, ohne voneinander zu wissen. Wähle: { $films }
conflict = Zwei Geräte haben das geändert
conflict-here = Auf deiner Liste: { $value }
conflict-there = Auf dem anderen Gerät: { $value }
conflict-keep = Behalten
conflict-keep-film = Zu { $film } behalten, was auf deiner Liste steht
conflict-other = Das andere nehmen
conflict-other-film = Das andere nehmen: was zu { $film } auf einem anderen Gerät steht
conflict-listed = auf der Liste
conflict-unlisted = von der Liste genommen
conflict-priority = Priorität { $priority }, { $name }
conflict-public = deine Freunde sehen es
conflict-private = privat
conflict-watched = gesehen
conflict-unwatched = nicht gesehen
conflict-no-note = keine Notiz
conflict-place = ein anderer Platz
conflict-no-tags = keine Listen
conflict-tags = Listen: { $lists }

## Films

add = Hinzufügen
add-film = { $film } hinzufügen
add-priority = Priorität von { $film }
add-watched = Schon gesehen
add-listed = Auf deiner Liste
film-edit =
    { $kind ->
        [film] Film bearbeiten
        *[series] Serie bearbeiten
    }
film-original = Originaltitel: { $title }
film-with = Mit { $names }
film-tmdb = Plakat und Inhaltsangabe stammen von TMDB (themoviedb.org). Dieses Produkt nutzt die API von TMDB, ist aber von TMDB weder geprüft noch empfohlen.
film-put = Auf deine Liste setzen
film-private = Privat { $hint }
film-private-hint = deine Freunde sehen es nicht
film-watched = Gesehen
film-have-watched = Ich habe ihn gesehen
film-on = Am
film-have-watched-series = Ich habe sie ganz gesehen
film-finished-on = Zu Ende gesehen am
film-seasons-watched = Gesehene Staffeln
film-seasons-up-to = bis Staffel { $season }
film-seasons-all =
    { $count ->
        [one] die einzige
        *[other] alle { $count }
    }
film-earlier = Frühere Tage
film-earlier-hint = Wenn du ihn mehrmals gesehen hast: Tage wie 2026-01-31, mit Kommas dazwischen.
film-lists = Listen { $hint }
film-lists-private = nur du siehst sie, außer denen, die du deinen Freunden zeigst
film-lists-hint = Eigene Namen, mit Kommas dazwischen: Halloween, Mit den Kindern.
film-note = Notiz { $hint }
film-note-private = nur du siehst sie
film-add = Auf die Liste setzen
film-friends = Freunde
film-friend-watched = { $name } hat das gesehen
film-friend-seasons =
    { $name } hat { $count ->
        [one] 1 Staffel
        *[other] { $count } Staffeln
    } davon gesehen
film-friend-wants = { $name } möchte das sehen
find = Film oder Serie suchen
find-what = Titel, Jahr, Person oder Genre
find-button = Suchen
find-missing = Fehlt ein Film oder eine Serie? { $add }.
find-missing-add = Füge ihn hinzu
find-no-more = Es gibt nichts Weiteres.
find-nothing = Nichts gefunden.
find-guess = Nichts heißt „{ $text }“. Ist es einer von diesen?
find-newest = Die neuesten Filme und Serien
find-count =
    { $count ->
        [one] 1 Treffer
        *[other] { $count } Treffer
    }
find-range = Treffer { $first } bis { $last }, die besten zuerst
new-film = Film oder Serie hinzufügen
new-film-kind =
    { $kind ->
        [film] Film
        *[series] Serie
    }
new-film-hint = Alle sehen den Eintrag. Niemand sieht, wer ihn hinzugefügt hat.
new-film-title = Titel
new-film-original = Originaltitel
new-film-original-hint = In der eigenen Sprache, wenn es ein anderer ist.
new-film-year = Jahr
new-film-year-hint = Vier Ziffern
new-film-of-series = Bei einer Serie
new-film-end-year = Letztes Jahr
new-film-end-year-hint = Vier Ziffern; leer, wenn sie weitergeht
new-film-seasons = Anzahl der Staffeln
new-film-seasons-hint = Eine Zahl
new-film-minutes = Laufzeit in Minuten
new-film-minutes-hint = Eine Zahl von Minuten
new-film-people = Personen
new-film-people-hint = Namen, mit Kommas dazwischen.
new-film-genres = Genres
new-film-genres-hint = Zum Beispiel Drama, Komödie.
new-film-remove = Film entfernen
new-film-remove-hint = Er wird von deiner Liste entfernt und nicht mehr gefunden. Listen anderer behalten ihn. Das lässt sich nicht rückgängig machen.
new-film-remove-button = Entfernen

## Tonight

tonight = Heute
tonight-question = Was könnten wir heute sehen?
tonight-hint = Mit Freunden findest du hier Filme, die ihr alle sehen möchtet.
tonight-own = Auf deiner Liste
tonight-own-none = Kein Film deiner Liste ist so, wie du gewählt hast.
tonight-own-rank = Geordnet nach deinen Prioritäten. Gewählt wird durch ein Los unter ihnen.
tonight-find-friend = Freunde finden oder einladen
tonight-you-and = Du und
tonight-minutes = Laufzeit
tonight-minutes-max = bis { $minutes } Min.
tonight-show = Filme zeigen
tonight-pick = Wähle einen für uns
tonight-again = Neu wählen
tonight-all = Auf euren Listen
tonight-none = Kein Film steht auf allen euren Listen. Füge einen Film von der Liste eines anderen zu deiner hinzu, oder wähle weniger Personen.
tonight-rank = Geordnet nach der Summe eurer Prioritäten. Gewählt wird durch ein Los, bei dem alle gleich viel Einfluss haben.
tonight-nearly = Fehlt auf einer Liste
tonight-film = Film
tonight-chance = Chance
tonight-percent = { $percent } %
tonight-not-listed = nicht auf der Liste

## Friends

friends = Freunde
friends-feed-once = Die Adresse deines Feeds; sie wird nur jetzt gezeigt
friends-requested = Anfrage gesendet. Wenn jemand so heißt, ist sie dort zu sehen.
friends-accepted = Ihr seid jetzt befreundet: Ihr seht, was auf euren Listen öffentlich ist.
friends-declined = Abgelehnt. Der anderen Seite wird das nicht mitgeteilt.
friends-taken-back = Zurückgenommen.
friends-unfriended = Ihr seid nicht mehr befreundet.
friends-blocked-done = Blockiert. Anfragen von dort erreichen dich nicht mehr.
friends-unblocked = Nicht mehr blockiert.
friends-feed-ended = Die Adresse deines Feeds gilt nicht mehr.
friends-received = Anfragen an dich
friends-yours = Deine Freunde
friends-none = Noch niemand. Freunde sehen, was auf ihren Listen öffentlich ist, und finden heraus, was sie zusammen sehen könnten.
friends-button-label = { $button }: { $name }
friends-accept = Annehmen
friends-decline = Ablehnen
friends-block = Blockieren
friends-new-of =
    { $count ->
        [one] 1 neuer Film
        *[other] { $count } neue Filme
    } von { $name }
friends-new = { $count } neu
friends-tonight = Heute
friends-tonight-with = Heute mit { $name }
friends-ask = Jemanden auf dieser Seite fragen
friends-their-name = Name
friends-ask-button = Fragen
friends-asked = Du hast gefragt
friends-take-back = Zurücknehmen
friends-invitations = Offene Einladungen
friends-made-on = Erstellt am { $day }
friends-feed = Feed
friends-feed-hint = Eine geheime Adresse für ein Feedprogramm, mit den Filmen, die deine Freunde hinzufügen. Wer die Adresse hat, kann ihn lesen.
friends-feed-new = Neue Adresse erstellen
friends-feed-end = Feed beenden
friends-feed-make = Adresse erstellen
friends-blocked = Blockiert
friends-unblock = Nicht mehr blockieren
feed-title = Was Freunde hinzufügen
feed-watched = { $name } hat { $film } gesehen
feed-wants = { $name } möchte { $film } sehen
person-list = Liste von { $name }
person-together = Zusammen sehen
person-nothing = Hier ist noch nichts zu sehen.
person-end = Freundschaft beenden
person-end-hint = Ihr seht eure Listen gegenseitig nicht mehr.
person-unfriend = Freundschaft mit { $name } beenden
person-unfriend-block = Beenden und blockieren
person-block-hint = Anfragen blockierter Personen erreichen dich nicht mehr. Mitgeteilt wird ihnen das nicht.

## Your account

account = Konto
sign-out = Abmelden
account-token-once = Dein Token; es wird nur jetzt gezeigt
account-password-done = Dein Passwort ist geändert. Überall sonst bist du abgemeldet, und deine Token sind widerrufen.
account-elsewhere-done = Überall sonst bist du abgemeldet, und deine Token sind widerrufen.
account-elsewhere-hint = Das beendet deine Sitzungen auf anderen Geräten und widerruft deine Token.
account-revoked = Das Token ist widerrufen.
account-data = Deine Daten
account-import = { $link } von Letterboxd oder IMDb
account-import-link = Bring eine Liste mit
account-csv = Deine Liste als CSV
account-letterboxd = Gesehene Filme, als CSV für Letterboxd
account-letterboxd-watchlist = Filme zum Ansehen, als CSV für die Watchlist von Letterboxd
account-json = Alles, was von dir gespeichert ist, als JSON
account-password-now = Bisheriges Passwort
account-password-change = Ändern
account-devices = Du bist auf { $count } Geräten angemeldet.
account-elsewhere = Überall sonst abmelden
account-language = Sprache
account-language-browser = Wie im Browser eingestellt
account-tokens = Token
account-tokens-hint = Für Programme, die { $api } in deinem Namen benutzen.
account-tokens-api = die API
account-revoke = Widerrufen
account-revoke-token = { $name } widerrufen
account-token-what = Wofür ist es?
account-token-make = Token erstellen
account-server = Dein Server
account-users = Konten und Speicher
account-delete = Konto löschen
account-delete-hint = Mit deiner Liste, deinen Freundschaften und allem anderen. Das lässt sich nicht rückgängig machen.
account-delete-open = Löschen
account-delete-button = Mein Konto löschen

## Signing in and up

sign-in = Anmelden
sign-in-password-done = Dein neues Passwort ist gesetzt. Melde dich damit an.
sign-in-deleted = Dein Konto ist gelöscht, mit allem, was darin war.
sign-in-new = Neu hier? { $link }.
sign-in-new-link = Lege ein Konto an
sign-in-invited = Neu hier? Wer hier ein Konto hat, kann dir eine Einladung schicken.
sign-in-forgotten = Passwort vergessen? Die Person, der diese Seite gehört, kann dir einen Link schicken, mit dem du ein neues wählst.
sign-in-wrong = Diesen Namen mit diesem Passwort gibt es nicht.
sign-in-suspended = Dieses Konto ist gesperrt. Frage die Person, der diese Seite gehört.
sign-up = Konto anlegen
sign-up-uninvited = Hier braucht man für ein Konto eine Einladung. Bitte Freunde um eine.
sign-up-over = Diese Einladung ist verbraucht oder zu alt. Bitte um eine neue.
sign-up-host = { $name } lädt dich ein. Ihr seid hier dann befreundet.
sign-up-name-hint = Deine Freunde sehen ihn. Buchstaben, Ziffern, Punkte, Bindestriche.
sign-up-button = Konto anlegen
sign-up-there = Hast du schon eins? { $link }.
sign-up-there-link = Melde dich an
sign-up-no-owner = Der Server gehört noch niemandem.
setup = Willkommen
setup-hint = Dieser Server hat noch keine Konten. Dem ersten gehört er.
setup-code = Einrichtungscode
setup-code-hint = Er steht am Ende der Adresse, die das Programm im Terminal oder in seinem Protokoll ausgegeben hat.
setup-button = Beginnen
setup-code-wrong = Das ist nicht der Code. Sieh noch einmal im Terminal nach.
setup-owned = Dieser Server gehört schon jemandem.
reset = Passwort wählen
reset-hint = Überall wirst du abgemeldet, und deine Token und Passkeys enden.
reset-over = Dieser Link ist verbraucht oder zu alt. Bitte um einen neuen.
reset-button = Passwort setzen

## Passkeys

passkeys = Passkeys
passkeys-hint = Mit einem Passkey meldest du dich ohne Namen und Passwort an: mit Fingerabdruck, Gesicht oder PIN deines Geräts oder mit einem Sicherheitsschlüssel. Dein Passwort gilt weiter.
passkeys-no-site = Es gibt keine, bis der Server seine Adresse kennt. Starte ihn mit der Option --site und einer Adresse, die mit https beginnt.
passkeys-not-here = Um einen hinzuzufügen, öffne { $address } in einem Browser, der Passkeys kennt und Skripte ausführt.
passkeys-max = Entferne einen Passkey, bevor du einen weiteren hinzufügst.
passkey-made = hinzugefügt am { $day }
passkey-used = zuletzt benutzt am { $day }
passkey-unused = noch nicht benutzt
passkey-remove = Entfernen
passkey-remove-named = { $name } entfernen
passkey-name = Wo liegt er?
passkey-name-wrong = Gib dem Passkey einen Namen mit höchstens { $count } Zeichen.
passkey-add = Passkey hinzufügen
passkey-added = Der Passkey ist hinzugefügt. Du kannst dich mit ihm anmelden.
passkey-ends = endet { $day }
passkey-ends-later = Mit einem Link wurde ein neues Passwort gewählt. Dieser Passkey endet einige Tage später. Um ihn jetzt zu entfernen, melde dich mit einem Passkey an.
passkeys-ending = Mit einem Link wurde ein neues Passwort gewählt. Wenn du es nicht warst, melde dich mit einem Passkey an und wähle innerhalb von zehn Minuten ein anderes Passwort: Dann bleiben deine Passkeys.
passkey-removed = Der Passkey ist hier entfernt. Entferne ihn auch auf deinem Gerät.
passkey-sign-in = Mit Passkey anmelden
passkey-known = Diesen Passkey gibt es hier schon.
passkey-unknown = Diesen Passkey gibt es hier nicht. Er wurde entfernt oder das Konto gelöscht.
passkey-late = Das hat zu lange gedauert oder wurde zweimal gesendet. Versuche es noch einmal.
passkey-copied = Dieser Passkey wurde vielleicht kopiert und nicht angenommen. Melde dich mit deinem Passwort an und entferne ihn.
passkey-refused = Der Passkey wurde nicht angenommen.

## The users, for the owner

users = Konten
user = Konto
users-removed = Das Konto ist gelöscht.
users-newer = Es gibt Version { $version } von What to Watch. Dies ist { $own }.
users-space = Die Datenbank belegt { $megabytes } MB. Davon sind { $free } MB frei für neue Einträge.
users-backup = Sicherung
users-backup-hint = Eine Kopie der Datenbank mit den Listen und Notizen aller Konten. Bewahre sie dort auf, wo sie sonst niemand lesen kann.
users-backup-button = Sicherung herunterladen
users-owner = Betrieb
users-suspended = Gesperrt
users-since = seit { $day }
users-films = Filme auf der Liste: { $count }
users-added = hinzugefügte Filme: { $count }
user-suspended-done = Gesperrt und überall abgemeldet.
user-resumed = Die Anmeldung ist wieder möglich.
user-facts = Dabei seit { $day }. Filme auf der Liste: { $films }. Hinzugefügte Filme: { $added }.
user-owner = Diesem Konto gehört der Server.
user-all = Alle Konten
user-suspend = Sperren
user-suspend-hint = Mit einem gesperrten Konto kann man sich nicht anmelden. Sitzungen, Token, der Feed und offene Links enden. Liste und Passwort bleiben.
user-resume = Sperre aufheben
user-reset = Vergessenes Passwort
user-reset-hint = Ein Link, über den ein neues Passwort gewählt wird. Er gilt einmal und { $hours } Stunden lang. Bis dahin bleibt das alte Passwort. Mit dem neuen werden alle Passkeys des Kontos entfernt.
user-delete-hint = Mit Liste, Freundschaften und allem anderen. Das lässt sich nicht rückgängig machen.
user-password-own = Dein eigenes Passwort
user-suspended = Das Konto ist gesperrt.
user-is-owner = Das Konto, dem der Server gehört, wird auf seiner eigenen Seite gelöscht.

## Mails

account-mail = Mailadresse
account-mail-hint = Für ein neues Passwort, wenn du deines vergisst, und für Neuigkeiten, wenn du möchtest. Niemand sonst sieht sie.
account-mail-unconfirmed = Noch nicht bestätigt. Öffne den Link in der Mail.
account-mail-news = Anfragen und neue Filme von Freunden an mich senden
account-mail-password = Dein Passwort, für eine andere Adresse
account-mail-sent = Eine Mail mit einem Link zum Bestätigen der Adresse ist unterwegs.
mail-wrong = Das ist keine Mailadresse.
mail-hello = Hallo { $name },
mail-confirm-subject = Mailadresse bestätigen
mail-confirm = jemand hat diese Adresse auf { $site } eingetragen. Öffne diesen Link, um sie zu bestätigen. Wenn du es nicht warst, tu nichts.
mail-confirm-button = Bestätigen
mail-confirmed = Die Adresse ist bestätigt.
mail-notice-subject = Deine Mailadresse wurde geändert
mail-notice = dies ist nicht mehr die Adresse deines Kontos auf { $site }. Wenn du es nicht warst, melde dich an und wähle ein anderes Passwort, oder wende dich an die Person, der der Server gehört.
mail-reset-subject = Neues Passwort wählen
mail-reset = jemand hat für dein Konto ein neues Passwort verlangt. Wähle es hier, innerhalb von { $hours } Stunden. Wenn du es nicht warst, tu nichts: Dein Passwort bleibt.
mail-news-subject = Neues von deinen Freunden
mail-asks = { $name } möchte mit dir befreundet sein.
mail-films =
    { $name } hat { $count ->
        [one] 1 Film
        *[other] { $count } Filme
    } hinzugefügt.
mail-news-end = Hier kannst du diese Mails beenden: { $link }
sign-in-forgotten-link = Passwort vergessen?
forgotten = Vergessenes Passwort
forgotten-hint = Ein Link für ein neues Passwort geht an die Mailadresse deines Kontos, wenn du eine bestätigt hast. Sonst frage die Person, der diese Seite gehört.
forgotten-button = Link senden
forgotten-done = Wenn es so ein Konto mit einer bestätigten Mailadresse gibt, ist ein Link unterwegs. Er wird höchstens alle zehn Minuten gesendet.

## Restoring a backup

restore = Sicherung einspielen
restore-hint = Alles in der Datenbank wird für alle Konten durch den Inhalt der Sicherung ersetzt. Listen und Passwörter sind dann die von damals.
restore-access = Alle anderen werden abgemeldet. Token, Passkeys, Feeds, Einladungen und Links für neue Passwörter enden.
restore-before = Was jetzt da ist, bleibt in einer Datei neben der Datenbank erhalten.
restore-file = Sicherung
restore-button = Alles ersetzen
restore-done = Eingespielt
restore-done-hint = Die Datenbank hat den Inhalt der Sicherung. Was sie vorher hatte, steht in der Datei { $file }.
restore-sign-in = In der Sicherung gehört der Server einem anderen Konto. Melde dich mit einem Konto an, das darin ist.
restore-kept = Von vorher erhalten
restore-kept-file = { $file }, { $megabytes } MB
restore-foreign = Das ist keine Sicherung dieser App.
restore-newer = Die Sicherung hat das Schema { $found }, und dieses Programm kennt nur bis { $known }. Nimm das neuere Programm, das sie geschrieben hat.
restore-damaged = Die Sicherung ist beschädigt: { $error }.
restore-schema = Die Sicherung hat andere Tabellen, als diese App anlegt: Jemand hat sie geändert.
restore-references = Die Sicherung ist beschädigt: Zeilen darin verweisen auf Zeilen, die fehlen.
restore-no-owner = In dieser Sicherung gehört der Server niemandem.
restore-too-large = Die Datei ist größer als { $count } GB.

## Import of lists

import = Liste mitbringen
import-file = Datei
import-file-hint = Letterboxd: Settings, Data, Export your data; die ganze zip-Datei oder eine Datei daraus. Trakt: Settings, Data, Export; die zip-Datei oder eine JSON-Datei. IMDb: eine Liste oder deine Bewertungen, Export. Eine als CSV gespeicherte Tabelle mit einer Spalte Title. Oder was diese Seite exportiert hat.
import-kind = Die Filme in einer CSV-Datei
import-kind-file = sind, was Name und Spalten der Datei sagen
import-kind-watched = wurden gesehen
import-kind-to-watch = sollen gesehen werden
import-see = Zeigen, was sich ändert
import-done = Importiert
import-counts = Neu auf deiner Liste: { $added }. Geändert: { $changed }. Wie vorher: { $present }. Weggelassen: { $left }.
import-undo = Import rückgängig machen
preview = Import prüfen
preview-hint = Noch ist nichts geändert. Die Datei nennt { $films }.
preview-part = { $what }: { $count }
preview-new = Neu auf deiner Liste
preview-changed = Geändert auf deiner Liste
preview-present = Wie vorher: { $count }
preview-button = Importieren
preview-before = Vorher: { $state }
preview-then = Nachher: { $state }
preview-watched = gesehen
preview-to-watch = zu sehen
preview-note = mit Notiz
preview-unclear = Unklar: { $count }
preview-unclear-hint = Das Jahr ist ein anderes oder fehlt, oder mehrere Filme haben diesen Titel. Wähle, welcher Film gemeint ist.
preview-no-year = (ohne Jahr)
preview-leave-out = Weglassen
preview-other = Ein anderer Film: zum Katalog hinzufügen
preview-unclear-more = Die Datei hat { $count } weitere. Importiere sie danach noch einmal, um darüber zu entscheiden.
preview-missing = Hier nicht bekannt
preview-add-missing = Filme hinzufügen, die hier nicht bekannt sind
preview-different = { $films }, zu denen in der Datei etwas anderes steht als hier
preview-keep = Behalten, was hier steht
preview-take = Nehmen, was die Datei sagt
preview-show = Zeigen
preview-listed = { $films }, die nur eigene Listen nennen
preview-listed-put = Auf die Liste setzen, zu sehen
preview-listed-leave = Weglassen
preview-what =
    { $what ->
        [rating] Bewertung
        [note] Notiz
        [priority] Priorität
        *[public] zu sehen für
    }
preview-seen-by =
    { $who ->
        [friends] Freunde
        *[you] nur dich
    }
preview-here = hier: { $value }
preview-there = in der Datei: { $value }
preview-unread =
    Nicht gelesen: { $count ->
        [one] 1 Zeile
        *[other] { $count } Zeilen
    }
preview-read = Was gelesen wurde
preview-rows =
    { $file }: { $count ->
        [one] 1 Zeile
        *[other] { $count } Zeilen
    }
preview-no-films = Folgen und andere Zeilen, die weder Film noch Serie sind: { $count }
preview-unread-file = Nicht gelesen: { $file }
columns = Was aus jeder Spalte wird
columns-hint = Der Import liest diese Spalten so und keine anderen. Ändere, was nicht stimmt, und lies die Datei noch einmal.
columns-format = Im Format von { $site }
columns-unknown = Ein Format, das hier nicht bekannt ist
columns-rows =
    { $rows ->
        [watched] Die Filme wurden gesehen, wo keine Spalte etwas anderes sagt.
        *[to_watch] Die Filme sind noch zu sehen, wo keine Spalte etwas anderes sagt.
    }
columns-unread = Nicht gelesen:
columns-name = Spalte
columns-becomes = wird
columns-samples = Die ersten drei Zeilen
columns-proved = (das sagt ein Wert über 5)
columns-button = Die Datei so lesen
columns-bad = Die Spalten sind kein JSON mit dem, was aus ihnen wird: { $error }.
means =
    { $what ->
        [title] der Titel
        [original_title] der Originaltitel
        [year] das Jahr
        [release_date] das Jahr, aus einem Datum
        [kind] Film oder Serie
        [imdb] die Nummer bei IMDb
        [tmdb] die Nummer bei TMDB
        [number] die Nummer bei jener Seite
        [number_of] die Seite der Nummer
        [link] die Adresse des Films
        [log] die Adresse des Eintrags
        [last_year] das letzte Jahr einer Serie
        [seasons] die Zahl der Staffeln
        [seasons_watched] die Zahl der gesehenen Staffeln
        [last_episode] die letzte gesehene Folge
        [season] die Staffel
        [episode] die Folge
        [genres] die Genres
        [directors] die Regie
        [minutes] die Laufzeit
        [watched] gesehen oder nicht
        [status] gesehen oder nicht, in Worten
        [watched_on] der Tag, an dem er gesehen wurde
        [watched_before] frühere Tage, an denen er gesehen wurde
        [rating_5] deine Bewertung, von 5
        [rating_10] deine Bewertung, von 10
        [rating_100] deine Bewertung, von 100
        [rating] deine Bewertung, von unbekannt vielen: nicht gelesen
        [rated_on] der Tag, an dem er gesehen wurde, wenn du ihn bewertet hast
        [priority] die Priorität
        [public] wer ihn sieht
        [note] die Notiz
        [tags] Namen von Listen
        [profile] wessen Zeile es ist
        [aside] Zeilen, in denen hier etwas steht, fallen weg
        *[unread] nichts: sie wird nicht gelesen
    }
ask = Die Datei sagt nicht alles. Bevor du geantwortet hast, kann nichts importiert werden:
ask-title = In welcher Spalte stehen die Titel?
ask-scale = Von wie vielen sind die Bewertungen in der Spalte { $column }? Wähle es in der Tabelle, oder dass sie nicht gelesen werden.
ask-day-first = Ist die erste Zahl von { $day } der Tag oder der Monat?
ask-profile = Wessen Filme sind gemeint?
day-first = der Tag
month-first = der Monat
import-zone = Deine Zeitzone. Zeiten in der Datei werden zu Tagen in ihr
zone-unknown = Die Zeitzone { $zone } ist nicht bekannt. Eine ist Europe/Berlin oder +02:00.
csv-no-status = „{ $text }“ sollte sagen, ob es gesehen wurde.
csv-no-rating = „{ $text }“ ist keine Bewertung von 0 bis { $max }.
csv-more-fields = Die Zeile hat { $fields } Felder und die Kopfzeile { $columns }.
json-bad = { $file } ist kein JSON mit einer Liste von Filmen: { $error }.
preview-no-room = Kein Platz
preview-dropped = Zeilen, die laut der Datei abgebrochen sind: { $count }
import-no-room = Es ist kein Platz für { $count ->
        [one] 1 Film
        *[other] { $count } Filme
    }. Eine Liste hat höchstens { $list } Filme, und Importe eines Mitglieds fügen ebenso viele mit einer Nummer bei einer anderen Seite hinzu und { $others } weitere. Die Person, der die Seite gehört, kann mit import-films Filme hinzufügen. Importiere die Datei danach noch einmal: Was hier ist, bleibt.

## The API and other pages

api = Die API
api-hint = Alles hier steht unter { $prefix }, nimmt und gibt JSON und braucht ein Token aus { $account }. Für Programme ist es in { $openapi } beschrieben, auf Englisch.
api-account = deinem Konto
api-errors = Ein Fehler hat einen Status ab 400 und sagt in { $error }, was falsch war.
api-takes = Nimmt { $takes }, gibt { $gives }.
api-gives = Gibt { $gives }.
offline = Keine Verbindung
offline-hint = Deine Liste ist auf dem Server, und der ist gerade nicht zu erreichen.
offline-again = Noch einmal versuchen

## The scripts

script-kept = Keine Verbindung. Die Änderung bleibt auf diesem Gerät und wird später gesendet.
script-unsent = Keine Verbindung: Das Formular wurde nicht gesendet. Sende es noch einmal, wenn die Verbindung wieder da ist.
script-back = Die Verbindung ist wieder da. Speichere, was du getippt hast, oder lade die Seite ohne diesen Text.
script-load = Seite laden
script-shown = Die Liste ist zu sehen.
script-none-fits = Kein Film passt.
script-copied = Kopiert
script-kept-here = Auf diesem Gerät gespeichert.
script-top = Nach oben
script-up = Höher
script-down = Tiefer
script-priority = Priorität
script-private = Privat
script-have-watched = Ich habe ihn gesehen
script-on = Am
script-earlier = Frühere Tage, wie 2026-01-31, mit Kommas dazwischen
script-rating = Bewertung
script-none = Keine
script-note = Notiz
script-lists = Listen, mit Kommas dazwischen
script-save = Speichern
script-take-off = Von der Liste nehmen
script-watched = Gesehen
script-season = Staffel { $season }
script-seasons-watched = Gesehene Staffeln
script-season-progress = Gesehene Staffeln: { $watched } von { $seasons }
script-season-progress-open = Gesehene Staffeln: { $watched }
script-times =
    { $count ->
        *[other] { $shown }-mal
    }
script-priority-of = Priorität { $priority }
script-change = Ändern
script-add-seen = Einen Film hinzufügen, den dieses Gerät kennt
script-add = Hinzufügen
script-refused = Eine Änderung an „{ $film }“ konnte nicht gesendet werden: { $reason }
script-days-wrong = Schreibe Tage wie 2026-01-31, höchstens { $most }.
script-lists-wrong = Ein Film steht auf höchstens { $most } Listen. Ihre Namen haben höchstens { $length } Zeichen, darunter ein sichtbares.
script-note-wrong = Eine Notiz hat höchstens { $most } Zeichen.
script-to-film = Zum Film
script-discard = Verwerfen
script-more = Mehr zeigen
script-list = Deine Liste
script-offline = Keine Verbindung.
script-copy = Das ist die Kopie auf diesem Gerät.
script-waits =
    { $count ->
        [one] { $shown } Änderung wartet auf diesem Gerät.
        *[other] { $shown } Änderungen warten auf diesem Gerät.
    }
script-to-watch = Zu sehen
script-passkey-not-done = Nicht ausgeführt. Es wurde abgebrochen oder hat zu lange gedauert.
script-passkey-there = Dieses Gerät hat schon einen Passkey für dieses Konto.
script-passkey-failed = Das hat nicht geklappt. Lade die Seite neu und versuche es noch einmal.
