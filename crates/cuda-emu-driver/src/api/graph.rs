//! Graphs.

use std::ffi::{c_char, c_void};

use cuda_emu::Grid;

use super::api;
use super::launch::launch;
use super::module::utf8;
use crate::core::command::Command;
use crate::core::driver::Driver;
use crate::error::{Result, invalid};
use crate::raw::{Handle, Out, array, fill, put, wanted};

/// `CUDA_KERNEL_NODE_PARAMS`: a launch of a kernel in a graph.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the fields are the parameters of cuLaunchKernel")]
pub struct KernelNode {
    pub function: Handle,
    pub blocks: [u32; 3],
    pub threads: [u32; 3],
    pub shared_bytes: u32,
    pub parameters: *const *const c_void,
    pub extra: *const *const c_void,
}

/// Reads how many elements there is room for, and writes how many were or could be written.
fn exchange_count(count: Option<&mut usize>, into_null: bool, there_are: usize) -> Result<usize> {
    let count = count.ok_or_else(|| invalid!("a pointer to a count is null"))?;
    let room = *count;
    *count = if into_null { there_are } else { there_are.min(room) };
    Ok(room)
}

/// Makes a graph that can be launched.
fn instantiate(executable: Out<'_, Handle>, graph: Handle) -> Result<()> {
    let out = wanted(executable)?;
    out.write(Driver::get()?.instantiate(graph)?);
    Ok(())
}

api! {
    /// Makes an empty graph; flags must be 0.
    fn cuGraphCreate(graph: Out<'_, Handle>, flags: u32) {
        let out = wanted(graph)?;
        if flags != 0 {
            return Err(invalid!("there are no flags {flags:#x}"));
        }
        out.write(Driver::get()?.graphs.insert(Default::default()));
        Ok(())
    }

    /// Destroys a graph and its nodes.
    fn cuGraphDestroy(graph: Handle) {
        Driver::get()?.destroy_graph(graph)
    }

    /// Adds a launch to a graph, after those that it depends on.
    fn cuGraphAddKernelNode(
        node: Out<'_, Handle>, graph: Handle, dependencies: *const Handle, count: usize, parameters: Option<&KernelNode>,
    ) {
        let out = wanted(node)?;
        let driver = Driver::get()?;
        // SAFETY: the caller's promise.
        let dependencies = unsafe { array(dependencies, count) }?;
        let given = parameters.ok_or_else(|| invalid!("the parameters of a node are null"))?;
        let grid = Grid { blocks: given.blocks, threads: given.threads, shared_bytes: given.shared_bytes.into() };
        // SAFETY: the caller's promise.
        let command = unsafe { launch(driver, given.function, grid, given.parameters, given.extra) }?;
        out.write(driver.add_node(graph, dependencies, command)?);
        Ok(())
    }

    /// Nodes of a graph, in an order in which they can run.
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: Option<&mut usize>) {
        let all = Driver::get()?.graph_nodes(graph)?;
        let room = exchange_count(count, nodes.is_null(), all.len())?;
        // SAFETY: `nodes` has room for `*count` by the caller's promise.
        unsafe { fill(nodes, room, &all) };
        Ok(())
    }

    /// Edges of a graph.
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: Option<&mut usize>) {
        if from.is_null() != to.is_null() {
            return Err(invalid!("one end of edges is null"));
        }
        let (sources, targets): (Vec<_>, Vec<_>) = Driver::get()?.graph_edges(graph)?.into_iter().unzip();
        let room = exchange_count(count, from.is_null(), sources.len())?;
        // SAFETY: both have room for `*count` by the caller's promise.
        unsafe {
            fill(from, room, &sources);
            fill(to, room, &targets);
        }
        Ok(())
    }

    /// The type of a node by its number in `CUgraphNodeType`.
    fn cuGraphNodeGetType(node: Handle, kind: Out<'_, i32>) {
        let kind_of = match Driver::get()?.nodes.get(node)?.command {
            Command::Launch(_) => 0,
            Command::CopyStaged { .. } | Command::CopyIn { .. } | Command::CopyOut { .. } | Command::Copy { .. } => 1,
            Command::Fill { .. } => 2,
            Command::Call(_) => 3,
            Command::Free { .. } => 11,
        };
        put(kind, kind_of)
    }

    /// The launch of a node. Pointers to parameters stay valid as long as the node.
    fn cuGraphKernelNodeGetParams(node: Handle, parameters: Out<'_, KernelNode>) {
        let node = Driver::get()?.nodes.get(node)?;
        let Command::Launch(launch) = &node.command else {
            return Err(invalid!("the node is a {}", node.command.name()));
        };
        put(parameters, KernelNode {
            function: launch.handle,
            blocks: launch.grid.blocks,
            threads: launch.grid.threads,
            // It came from 32 bits.
            shared_bytes: launch.grid.shared_bytes as u32,
            parameters: std::ptr::with_exposed_provenance(node.parameters.address()),
            extra: std::ptr::null(),
        })
    }

    /// Writes a graph to a file in the language of Graphviz; flags change nothing.
    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, _flags: u32) {
        // SAFETY: the path is a string by the caller's promise.
        let path = unsafe { utf8(path) }?;
        Driver::get()?.print_graph(graph, path)
    }

    /// Makes a graph that can be launched. Nothing is logged, since every graph can be.
    fn cuGraphInstantiate(
        executable: Out<'_, Handle>, graph: Handle, _node: Out<'_, Handle>, _log: *mut c_char, _log_bytes: usize,
    ) {
        instantiate(executable, graph)
    }

    /// Makes a graph that can be launched. Nothing is logged, since every graph can be.
    fn cuGraphInstantiate_v2(
        executable: Out<'_, Handle>, graph: Handle, _node: Out<'_, Handle>, _log: *mut c_char, _log_bytes: usize,
    ) {
        instantiate(executable, graph)
    }

    /// Makes a graph that can be launched. Flags change how a device prepares it: nothing here.
    fn cuGraphInstantiateWithFlags(executable: Out<'_, Handle>, graph: Handle, _flags: u64) {
        instantiate(executable, graph)
    }

    /// Submits all commands of a graph to a stream.
    fn cuGraphLaunch(executable: Handle, stream: Handle) {
        let driver = Driver::get()?;
        driver.launch_graph(executable, &*driver.stream(stream)?)
    }

    /// Destroys a graph that could be launched.
    fn cuGraphExecDestroy(executable: Handle) {
        Driver::get()?.executables.remove(executable).map(drop)
    }
}
