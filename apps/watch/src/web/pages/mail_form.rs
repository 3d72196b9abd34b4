//! The form with the mail address of a user, on their account page.

use crate::{db::mail::Address, web::parts, words::say};
use maud::{Markup, html};

/// The form with the address of a user.
pub fn address_form(address: Option<&Address>, is_confirmed: bool, token: &str) -> Markup {
    html! {
        section.card aria-labelledby="mail" {
            h2 id="mail" { (say::account_mail()) }
            p { (say::account_mail_hint()) }
            @if address.is_some_and(|address| !address.is_confirmed) { p.hint { (say::account_mail_unconfirmed()) } }
            form method="post" action="/account/mail" {
                (parts::hidden(token, ""))
                label.field for="address" { (say::account_mail()) }
                input id="address" name="address" type="email" autocomplete="email" maxlength="254" value=[address.map(|address| &address.address)];
                label.tick {
                    input type="checkbox" name="news" checked[address.is_some_and(|address| address.wants_news)];
                    span { (say::account_mail_news()) }
                }
                @if !is_confirmed { (parts::password_for_change("mail-confirm", say::account_mail_password())) }
                p.buttons { button { (say::save()) } }
            }
        }
    }
}
