//! The forms for passkeys, on one's account page and at sign-in.

use crate::{
    db::passkeys::Passkey,
    passkeys::Site,
    request::Me,
    web::{assets::address, form::local, parts, visitor::Guest},
    words::say,
};
use maud::{Markup, html};

/// The passkeys of a user, and the form to add one.
pub fn passkeys_form(me: &Me, passkeys: &[Passkey], is_confirmed: bool, token: &str) -> Markup {
    let site = me.app.config().site.as_ref();
    // What is wrong with the server is its owner's to know.
    if site.is_none() && passkeys.is_empty() && !me.user.is_owner {
        return html! {};
    }
    html! {
        section.card aria-labelledby="passkeys" {
            h2 id="passkeys" { (say::passkeys()) }
            p { (say::passkeys_hint()) }
            @if !passkeys.is_empty() {
                ul.plain { @for passkey in passkeys { (row(passkey, token)) } }
                @if passkeys.iter().any(|passkey| passkey.ends_ms.is_some()) { p.problem role="note" { (say::passkeys_ending()) } }
            }
            @if let Some(site) = site { (add_form(site, is_confirmed, token)) } @else { p.hint { (say::passkeys_no_site()) } }
        }
    }
}

fn row(
    Passkey {
        id,
        name,
        used_ms,
        ends_ms,
        ..
    }: &Passkey,
    token: &str,
) -> Markup {
    html! {
        li.person {
            span.who {
                bdi { (name) } " "
                small {
                    (say::passkey_made(parts::day_of(*id))) " · "
                    @match used_ms {
                        Some(ms) => (say::passkey_used(parts::day_of_ms(ms.unsigned_abs()))),
                        None => (say::passkey_unused()),
                    }
                    @if let Some(ms) = ends_ms { " · " (say::passkey_ends(parts::day_of_ms(ms.unsigned_abs()))) }
                }
            }
            form method="post" action={ "/account/passkeys/" (id) "/remove" } {
                (parts::hidden(token, ""))
                button.small aria-label=(say::passkey_remove_named(name).plain()) { (say::passkey_remove()) }
            }
        }
    }
}

fn add_form(site: &Site, is_confirmed: bool, token: &str) -> Markup {
    let fields = html! {
        (parts::hidden(token, ""))
        label.field for="passkey-name" { (say::passkey_name()) }
        input id="passkey-name" name="name" dir="auto" required maxlength="60" autocomplete="off";
        @if !is_confirmed { (parts::own_password("passkey-confirm")) }
        p.buttons { button { (say::passkey_add()) } }
    };
    html! {
        (scripted(site, "/account/passkeys", &fields))
        p.hint data-no-passkeys { (say::passkeys_not_here(html! { code { (site.origin()) } })) }
    }
}

/// The form at sign-in.
pub fn sign_in_form(site: &Site, guest: &Guest, next: &str) -> Markup {
    let fields = html! {
        (parts::hidden(&guest.form_token(), ""))
        input type="hidden" name="next" value=(local(next));
        p.buttons { button { (say::passkey_sign_in()) } }
    };
    scripted(site, "/sign-in/passkey", &fields)
}

/// A form that a script shows in browsers with passkeys. It asks for a challenge first, and sends the form with the answer.
fn scripted(site: &Site, action: &str, fields: &Markup) -> Markup {
    html! {
        form method="post" action=(action) data-passkeys=(site.origin()) hidden {
            p.problem role="alert" hidden {}
            input type="hidden" name="credential";
            (fields)
        }
        script src=(address("passkeys.js")) defer {}
    }
}
