//! Starts the nodes.
//!
//! The cluster is bootstrapped as if all its nodes had been stopped at the same moment while empty. The data folder
//! of each node has a `gvwstate.dat` with the members of the cluster, and the same `grastate.dat`. The nodes
//! therefore form the cluster without a state transfer (*primary component recovery*,
//! <https://galeracluster.com/library/documentation/pc-recovery.html>). They connect to each other on free ports of
//! the loopback interface. SQL uses their sockets.

use super::NODES;
use crate::{
    Error, Settings,
    mariadb::{
        self,
        database::{MariaDatabase, address},
    },
    server::{Home, Server},
};
use mysql::{Conn, prelude::Queryable as _};
use std::{
    net::{Ipv4Addr, TcpListener},
    path::Path,
    sync::Arc,
};

/// Size in bytes of the ring buffer of write sets that a node can send to the others again (gcache).
const CACHE: &str = "64M";

/// Position and ports of a node in the cluster.
struct Node {
    /// Number of the node, from 1.
    number: usize,
    /// Ports for messages of the other nodes, and for write sets to a node that has fallen behind.
    ports: [u16; 2],
}

/// Maximum number of attempts to start a cluster. Another process may take a free port before the node listens on it,
/// and on a loaded machine the nodes may not find each other in time.
const STARTS_MAX: usize = 3;

/// Starts a cluster. Returns the first node first.
pub fn start(
    provider: &Path,
    folder: &Path,
    settings: &Settings,
) -> Result<Vec<Arc<MariaDatabase>>, Error> {
    let mut left = STARTS_MAX;
    loop {
        left -= 1;
        match start_nodes(provider, folder, settings) {
            // The failed start has already removed its files.
            Err(Error::Database { .. }) if left > 0 => {}
            result => return result,
        }
    }
}

fn start_nodes(
    provider: &Path,
    folder: &Path,
    settings: &Settings,
) -> Result<Vec<Arc<MariaDatabase>>, Error> {
    let ports = free_ports(2 * NODES)?;
    let nodes: Vec<Node> = ports
        .as_chunks::<2>()
        .0
        .iter()
        .zip(1..)
        .map(|(ports, number)| Node {
            number,
            ports: *ports,
        })
        .collect();
    // A unique name keeps the nodes out of other clusters.
    let name = format!("inorder-{}-{}", std::process::id(), ports[0]);
    let mut servers = Vec::new();
    for node in &nodes {
        let server = mariadb::start_named(&node.name(), folder, settings, |home| {
            node.write_state(home)?;
            Ok(node.arguments(provider, &name, &nodes, home))
        });
        servers.push(server?);
    }
    for server in &servers {
        server.wait_for(|| is_ready(server))?;
    }
    // One at a time: the first node creates the schema, which the others then find.
    servers
        .into_iter()
        .map(|server| MariaDatabase::open(server, settings).map(Arc::new))
        .collect()
}

/// Returns free ports of the loopback interface.
fn free_ports(wanted: usize) -> Result<Vec<u16>, Error> {
    let listen = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok((listener.local_addr()?.port(), listener))
    };
    // The listeners stay open until the last port is found, so that no port is returned twice.
    let held: std::io::Result<Vec<_>> = (0..wanted).map(|_| listen()).collect();
    let held = held.map_err(|error| Error::Database {
        doing: "looking for free ports of 127.0.0.1".to_owned(),
        message: error.to_string(),
    })?;
    Ok(held.into_iter().map(|(port, _)| port).collect())
}

/// Returns whether a node answers, has found all others, and has applied their transactions.
fn is_ready(server: &Server) -> Result<(), String> {
    let mut conn = Conn::new(address(server)).map_err(|error| error.to_string())?;
    let rows: Vec<(String, String)> = conn
        .query("SHOW STATUS WHERE variable_name IN ('wsrep_cluster_size', 'wsrep_ready')")
        .map_err(|error| error.to_string())?;
    let wanted = [
        ("wsrep_cluster_size", NODES.to_string()),
        ("wsrep_ready", "ON".to_owned()),
    ];
    let is_there = |(name, value): &(&str, String)| {
        let mut rows = rows.iter();
        rows.any(|(other, now)| other == name && now == value)
    };
    match wanted.iter().all(is_there) {
        true => Ok(()),
        false => Err(format!("the nodes haven't found each other: {rows:?}")),
    }
}

impl Node {
    fn name(&self) -> String {
        format!("node{}", self.number)
    }

    /// Id of the node. The smallest id has the smallest `auto_increment_offset`.
    fn id(&self) -> String {
        format!("00000000-0000-4000-8000-{:012}", self.number)
    }

    fn address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.ports[0])
    }

    /// Writes the files that a stopped cluster leaves in a node's data folder.
    fn write_state(&self, home: &Home) -> Result<(), Error> {
        // The node creates its tables of cluster members here.
        home.make_folder(&home.data.join("mysql"))?;
        let members: String = (1..=NODES)
            .map(|number| {
                let node = Node {
                    number,
                    ports: [0; 2],
                };
                format!("member: {} 0\n", node.id())
            })
            .collect();
        let view = format!(
            "my_uuid: {}\n#vwbeg\nview_id: 3 {} 1\nbootstrap: 0\n{members}#vwend\n",
            self.id(),
            Node {
                number: 1,
                ports: [0; 2]
            }
            .id()
        );
        home.write_file(&home.data.join("gvwstate.dat"), &view)?;
        let state = format!(
            "# GALERA saved state\nversion: 2.1\nuuid: {STATE}\nseqno: 0\nsafe_to_bootstrap: 0\n"
        );
        home.write_file(&home.data.join("grastate.dat"), &state)
    }

    fn arguments(&self, provider: &Path, name: &str, nodes: &[Node], home: &Home) -> Vec<String> {
        let all: Vec<String> = nodes.iter().map(Node::address).collect();
        let options = [
            format!("gmcast.listen_addr=tcp://{}", self.address()),
            format!("ist.recv_addr={}:{}", Ipv4Addr::LOCALHOST, self.ports[1]),
            format!("gcache.dir={}", home.data.display()),
            format!("gcache.size={CACHE}"),
        ];
        vec![
            "--wsrep-on=ON".to_owned(),
            format!("--wsrep-provider={}", provider.display()),
            format!("--wsrep-cluster-name={name}"),
            format!("--wsrep-cluster-address=gcomm://{}", all.join(",")),
            format!("--wsrep-node-name={}", self.name()),
            format!("--wsrep-node-address={}", self.address()),
            format!("--wsrep-start-position={STATE}:0"),
            format!("--wsrep-provider-options={}", options.join(";")),
            // All nodes start with identical data, so no state transfer is needed.
            "--wsrep-sst-method=skip".to_owned(),
            "--binlog-format=ROW".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
        ]
    }
}

/// Id of the history that all nodes share.
const STATE: &str = "00000000-0000-4000-9000-000000000000";
