//! Graphs of commands.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use super::command::Command;
use super::driver::Driver;
use super::lock;
use super::stream::Stream;
use crate::error::{Error, Result, invalid};

/// A graph: its nodes, in an order in which they can run.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<usize>>,
}

/// A node of a graph.
#[derive(Debug)]
pub(crate) struct Node {
    graph: usize,
    pub(crate) command: Command,
    dependencies: Vec<usize>,
    /// Parameters of a kernel where C can read them.
    pub(crate) parameters: NodeParameters,
}

/// A graph that can be launched: commands in order.
#[derive(Debug)]
pub(crate) struct Executable {
    commands: Vec<Command>,
}

/// A copy of a kernel's parameters at an address that stays, and pointers to each of them.
#[derive(Debug, Default)]
pub(crate) struct NodeParameters {
    /// Only the pointers lead here.
    _words: Vec<u128>,
    pointers: Vec<usize>,
}

impl NodeParameters {
    fn new(command: &Command) -> Self {
        let Command::Launch(launch) = command else { return Self::default() };
        let mut words: Vec<u128> = launch
            .parameters
            .chunks(16)
            .map(|chunk| {
                let mut word = [0; 16];
                word[..chunk.len()].copy_from_slice(chunk);
                u128::from_ne_bytes(word)
            })
            .collect();
        let base = words.as_mut_ptr().expose_provenance();
        let pointers = launch.function.info.parameters.iter().map(|&(offset, _)| base + offset as usize).collect();
        Self { _words: words, pointers }
    }

    /// The address of the array of pointers; 0 for a kernel without parameters.
    pub(crate) fn address(&self) -> usize {
        if self.pointers.is_empty() { 0 } else { self.pointers.as_ptr().expose_provenance() }
    }
}

impl Driver {
    /// Adds a node after those that it depends on; its handle.
    pub(crate) fn add_node(&self, graph: usize, dependencies: &[usize], command: Command) -> Result<usize> {
        let owner = self.graphs.get(graph)?;
        for &dependency in dependencies {
            if self.nodes.get(dependency)?.graph != graph {
                return Err(invalid!("node {dependency:#x} is of another graph"));
            }
        }
        let parameters = NodeParameters::new(&command);
        let node = Node { graph, command, dependencies: dependencies.to_vec(), parameters };
        let mut nodes = lock(&owner.nodes);
        let handle = self.nodes.insert(node);
        nodes.push(handle);
        Ok(handle)
    }

    /// Nodes of a graph, in an order in which they can run.
    pub(crate) fn graph_nodes(&self, graph: usize) -> Result<Vec<usize>> {
        Ok(lock(&self.graphs.get(graph)?.nodes).clone())
    }

    /// Edges of a graph: what has to run first, and what depends on it.
    pub(crate) fn graph_edges(&self, graph: usize) -> Result<Vec<(usize, usize)>> {
        let mut edges = Vec::new();
        for to in self.graph_nodes(graph)? {
            edges.extend(self.nodes.get(to)?.dependencies.iter().map(|&from| (from, to)));
        }
        Ok(edges)
    }

    /// Makes a graph that can be launched; its handle. Later changes of the graph don't change it.
    pub(crate) fn instantiate(&self, graph: usize) -> Result<usize> {
        self.current()?;
        let nodes = self.graph_nodes(graph)?;
        let commands: Result<Vec<Command>> =
            nodes.into_iter().map(|node| Ok(self.nodes.get(node)?.command.clone())).collect();
        Ok(self.executables.insert(Executable { commands: commands? }))
    }

    /// Submits all commands of a graph to a stream.
    pub(crate) fn launch_graph(&self, executable: usize, stream: &Stream) -> Result<()> {
        let executable = self.executables.get(executable)?;
        stream.check_no_capture("a launch of a graph")?;
        executable.commands.iter().try_for_each(|command| stream.command(self, command.clone()))
    }

    /// Destroys a graph and its nodes.
    pub(crate) fn destroy_graph(&self, graph: usize) -> Result<()> {
        let graph: Arc<Graph> = self.graphs.remove(graph)?;
        for &node in lock(&graph.nodes).iter() {
            self.nodes.remove(node)?;
        }
        Ok(())
    }

    /// Writes a graph to a file in the language of Graphviz.
    pub(crate) fn print_graph(&self, graph: usize, path: &str) -> Result<()> {
        let mut text = String::from("digraph graph_0 {\n");
        for node in self.graph_nodes(graph)? {
            let label = self.nodes.get(node)?.command.name().replace(['"', '\\'], "_");
            // Writing to a string can't fail.
            let _ = writeln!(text, "    \"{node:#x}\" [label=\"{label}\"];");
        }
        for (from, to) in self.graph_edges(graph)? {
            let _ = writeln!(text, "    \"{from:#x}\" -> \"{to:#x}\";");
        }
        text.push_str("}\n");
        std::fs::write(path, text).map_err(|error| Error::File { path: path.to_owned(), error })
    }
}
