//! The routes of the server, one per line.

use super::resend::Routes;
use super::site::Site;
use super::{
    HttpError, Server, database as db, design as ddoc, document as doc, gate, later, server as srv,
    utils_folder,
};
use crate::auth::User;
use crate::status_page;
use axum::response::Redirect;
use axum::routing::{any, get, post, put};
use axum::{Router, middleware};
use std::sync::Arc;

/// What answers at the sockets of the server.
pub fn site(server: Arc<Server>) -> Site {
    // Where the default of `chttpd_auth/authentication_redirect` leads browsers. The status page asks for the password.
    let log_in = || async { Redirect::to("/_utils/") };
    let utils = match &server.settings.utils {
        Some(folder) => utils_folder::routes(folder.clone()),
        None => status_page::page(),
    };
    let routes = all()
        .merge(status_page::routes())
        .merge(utils)
        .route("/_utils/session.html", get(log_in));
    let routes = routes.with_state(Arc::clone(&server));
    Site::new(server, routes)
}

/// The service for the server itself, without authentication and with the rights of a user: for replications of its own
/// databases.
pub fn within(server: Arc<Server>, user: User) -> Router {
    let routes = all().with_state(Arc::clone(&server));
    let state = (server, user, Routes(routes.clone()));
    let layer = middleware::from_fn_with_state(state, gate::within);
    Router::new().fallback_service(routes).layer(layer)
}

fn all() -> Unbound {
    Router::new()
        .merge(of_server())
        .merge(of_databases())
        .merge(of_documents())
        .fallback(nothing)
}

async fn nothing() -> HttpError {
    HttpError::NotFound("missing".to_owned())
}

/// Routes that have no server yet.
type Unbound = Router<Arc<Server>>;

fn of_server() -> Unbound {
    Router::new()
        .route("/", get(srv::welcome))
        .route("/_up", get(srv::up))
        .route("/_uuids", get(srv::uuids))
        .route(
            "/_session",
            get(srv::session).post(srv::login).delete(srv::logout),
        )
        .route("/_all_dbs", get(srv::all_dbs))
        .route("/_dbs_info", get(srv::dbs_info).post(srv::dbs_info_of))
        .route("/_db_updates", get(srv::db_updates))
        .route("/_active_tasks", get(srv::active_tasks))
        .route("/_membership", get(srv::membership))
        .route("/_replicate", post(srv::replicate))
        .route("/_scheduler/jobs", get(srv::scheduler_jobs))
        .route("/_scheduler/jobs/{id}", get(srv::scheduler_job))
        .route("/_scheduler/docs", get(srv::scheduler_docs))
        .route("/_scheduler/docs/{*rest}", get(srv::scheduler_docs_of))
        .route("/_node/{node}", get(srv::node))
        .route("/_node/{node}/_config", get(srv::config))
        .route("/_node/{node}/_config/{section}", get(srv::config_section))
        .route(
            "/_node/{node}/_config/{section}/{key}",
            get(srv::config_value)
                .put(srv::set_config_value)
                .delete(srv::delete_config_value),
        )
        .route("/_node/{node}/_config/_reload", post(srv::reload_config))
        .route("/_node/{node}/_versions", get(srv::versions))
        .route("/_node/{node}/_stats", get(srv::stats))
        .route("/_node/{node}/_stats/{*path}", get(srv::some_stats))
        .route("/_node/{node}/_system", get(srv::system))
        .route("/_node/{node}/_prometheus", get(srv::prometheus))
        .route("/_node/{node}/{*rest}", any(nothing))
        .route("/_reshard", any(later::cluster))
        .route("/_reshard/{*rest}", any(later::cluster))
        .route(
            "/_cluster_setup",
            get(srv::cluster_state).post(srv::set_up_cluster),
        )
}

fn of_databases() -> Unbound {
    Router::new()
        .route("/{db}", database())
        .route("/{db}/", database())
        .route("/{db}/_all_docs", get(db::all_docs).post(db::all_docs_of))
        .route("/{db}/_all_docs/queries", post(db::all_docs_queries))
        .route(
            "/{db}/_design_docs",
            get(db::design_docs).post(db::design_docs_of),
        )
        .route("/{db}/_design_docs/queries", post(db::design_docs_queries))
        .route(
            "/{db}/_local_docs",
            get(db::local_docs).post(db::local_docs_of),
        )
        .route("/{db}/_local_docs/queries", post(db::local_docs_queries))
        .route("/{db}/_bulk_docs", post(db::bulk_docs))
        .route("/{db}/_bulk_get", post(db::bulk_get))
        .route("/{db}/_changes", get(db::changes).post(db::changes_of))
        .route("/{db}/_revs_diff", post(db::revs_diff))
        .route("/{db}/_missing_revs", post(db::missing_revs))
        .route("/{db}/_purge", post(db::purge))
        .route("/{db}/_find", post(db::find))
        .route("/{db}/_explain", post(db::explain))
        .route("/{db}/_index", get(db::indexes).post(db::create_index))
        .route("/{db}/_index/_bulk_delete", post(db::delete_indexes))
        .route("/{db}/_index/{*rest}", any(db::named_index))
        .route("/{db}/_security", get(db::security).put(db::set_security))
        .route(
            "/{db}/_revs_limit",
            get(db::revs_limit).put(db::set_revs_limit),
        )
        .route("/{db}/_compact", post(db::compact))
        .route("/{db}/_compact/{design}", post(db::compact_views))
        .route("/{db}/_view_cleanup", post(db::clean_up_views))
        .route("/{db}/_temp_view", post(db::temp_view))
        .route("/{db}/_ensure_full_commit", post(db::ensure_full_commit))
        .route("/{db}/_shards", get(db::shards))
        .route("/{db}/_shards/{id}", get(db::shards_of))
        .route("/{db}/_sync_shards", post(db::sync_shards))
        .route("/{db}/_partition", any(db::no_partition))
        .route("/{db}/_partition/", any(db::no_partition))
        .route("/{db}/_partition/{partition}", get(db::partition_info))
        .route(
            "/{db}/_partition/{partition}/{*rest}",
            any(db::in_partition),
        )
}

fn database() -> axum::routing::MethodRouter<Arc<Server>> {
    get(db::info)
        .put(db::create)
        .delete(db::delete)
        .post(doc::post)
}

fn of_documents() -> Unbound {
    Router::new()
        .route("/{db}/{id}", document())
        .route("/{db}/{id}/{*attachment}", attachment())
        .route("/{db}/_local", any(doc::no_local_id))
        .route("/{db}/_local/", any(doc::no_local_id))
        .route("/{db}/_local/{local}", document())
        .route(
            "/{db}/_local/{local}/{*rest}",
            any(doc::no_local_attachment),
        )
        .route("/{db}/_design/{design}", document())
        .route("/{db}/_design/{design}/{*attachment}", attachment())
        .route("/{db}/_design/{design}/_info", get(db::view_info))
        .route(
            "/{db}/_design/{design}/_view/{view}",
            get(db::view).post(db::view_of),
        )
        .route(
            "/{db}/_design/{design}/_view/{view}/queries",
            post(db::view_queries),
        )
        .route("/{db}/_design/{design}/_show", any(ddoc::show))
        .route("/{db}/_design/{design}/_show/{*rest}", any(ddoc::show))
        .route(
            "/{db}/_design/{design}/_list/{*rest}",
            get(ddoc::list).post(ddoc::list_of).options(ddoc::list),
        )
        .route("/{db}/_design/{design}/_update", any(ddoc::update))
        .route("/{db}/_design/{design}/_update/{*rest}", any(ddoc::update))
        .route("/{db}/_design/{design}/_rewrite", any(ddoc::rewrite))
        .route("/{db}/_design/{design}/_rewrite/", any(ddoc::rewrite))
        .route(
            "/{db}/_design/{design}/_rewrite/{*rest}",
            any(ddoc::rewrite),
        )
        .route("/{db}/_design/{design}/_search/{*rest}", any(later::search))
        .route(
            "/{db}/_design/{design}/_nouveau/{*rest}",
            any(later::search),
        )
}

fn document() -> axum::routing::MethodRouter<Arc<Server>> {
    // COPY is no method that a route can have by name.
    get(doc::get)
        .put(doc::put)
        .delete(doc::delete)
        .post(doc::post_form)
        .fallback(doc::copy)
}

fn attachment() -> axum::routing::MethodRouter<Arc<Server>> {
    get(doc::get_attachment)
        .merge(put(doc::put_attachment))
        .delete(doc::delete_attachment)
}
