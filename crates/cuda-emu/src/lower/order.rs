//! The order of basic blocks, on which convergence rests.
//!
//! Lanes of a warp that have parted run by position: those that are behind run first, and lanes that meet at one
//! position go on together. That brings lanes together as early as can be (thread frontiers; Diamos et al., MICRO
//! 2011) if a block stands after all blocks that lead to it, loops aside, and if the blocks of a loop stand together.
//! Compilers place cold blocks at the end, so blocks are put into such an order here: strongly connected components in
//! topological order, and inside each one, without the edges to its head, the same again.

use crate::program::{Inst, Op};

/// Loops may be nested this deeply; components of deeper ones keep the order of the text.
const DEPTH: u32 = 64;

/// Puts blocks in order and turns labels into positions. `labels` has the position of each label in `code`.
pub(super) fn arrange(code: Vec<Inst>, labels: &[u32]) -> Vec<Inst> {
    if code.is_empty() {
        return code;
    }
    let graph = Graph::new(&code, labels);
    let order = graph.order();
    let mut place = vec![0_u32; graph.starts.len()];
    let mut length = 0;
    for (i, &block) in order.iter().enumerate() {
        place[block] = length;
        let (start, end) = graph.range(block);
        length += (end - start) as u32;
        length += u32::from(graph.leaves_gap(block, order.get(i + 1).copied(), &code));
    }
    let position = |target: u32| place[graph.block_of(target)];
    let mut slots: Vec<Option<Inst>> = code.into_iter().map(Some).collect();
    let mut arranged = Vec::with_capacity(length as usize);
    for (i, &block) in order.iter().enumerate() {
        let (start, end) = graph.range(block);
        let mut last_line = 0;
        let mut falls = true;
        for slot in &mut slots[start..end] {
            let Some(mut inst) = slot.take() else { continue };
            last_line = inst.line;
            falls = falls_through(&inst);
            match &mut inst.op {
                Op::Branch(target) => *target = position(labels[*target as usize]),
                Op::Switch { targets, .. } => {
                    for target in targets.iter_mut() {
                        *target = position(labels[*target as usize]);
                    }
                }
                _ => {}
            }
            arranged.push(inst);
        }
        if falls && graph.gap(block, order.get(i + 1).copied()) {
            let inst = Inst::new(Op::Branch(place[block + 1]), last_line);
            arranged.push(Inst { counted: false, ..inst });
        }
    }
    arranged
}

/// Whether lanes may go on to the next instruction of the text.
fn falls_through(inst: &Inst) -> bool {
    let unguarded = inst.guard == crate::lanes::NONE;
    !(unguarded && matches!(inst.op, Op::Branch(_) | Op::Switch { .. } | Op::Return | Op::Exit | Op::Trap))
}

struct Graph {
    /// First instruction of each block, in order of the text.
    starts: Vec<usize>,
    length: usize,
    next: Vec<Vec<usize>>,
}

impl Graph {
    fn new(code: &[Inst], labels: &[u32]) -> Self {
        let length = code.len();
        let mut leader = vec![false; length];
        leader[0] = true;
        // A label at the very end stands before the return that every body ends with.
        for &label in labels {
            leader[(label as usize).min(length - 1)] = true;
        }
        for (i, inst) in code.iter().enumerate() {
            let ends = matches!(inst.op, Op::Branch(_) | Op::Switch { .. } | Op::Return | Op::Exit | Op::Trap);
            if ends && i + 1 < length {
                leader[i + 1] = true;
            }
        }
        let starts: Vec<usize> = (0..length).filter(|&i| leader[i]).collect();
        let mut graph = Self { starts, length, next: Vec::new() };
        for block in 0..graph.starts.len() {
            let (_, end) = graph.range(block);
            let last = &code[end - 1];
            let mut next = Vec::new();
            match &last.op {
                Op::Branch(target) => next.push(graph.block_of(labels[*target as usize])),
                Op::Switch { targets, .. } => {
                    next.extend(targets.iter().map(|&target| graph.block_of(labels[target as usize])));
                }
                _ => {}
            }
            if falls_through(last) && block + 1 < graph.starts.len() {
                next.push(block + 1);
            }
            next.sort_unstable();
            next.dedup();
            graph.next.push(next);
        }
        graph
    }

    fn range(&self, block: usize) -> (usize, usize) {
        (self.starts[block], self.starts.get(block + 1).copied().unwrap_or(self.length))
    }

    fn block_of(&self, position: u32) -> usize {
        let position = (position as usize).min(self.length - 1);
        self.starts.partition_point(|&start| start <= position) - 1
    }

    /// Whether what follows in the text doesn't follow in the order.
    fn gap(&self, block: usize, following: Option<usize>) -> bool {
        block + 1 < self.starts.len() && following != Some(block + 1)
    }

    fn leaves_gap(&self, block: usize, following: Option<usize>, code: &[Inst]) -> bool {
        let (_, end) = self.range(block);
        falls_through(&code[end - 1]) && self.gap(block, following)
    }

    /// All blocks, those that can't be reached last.
    fn order(&self) -> Vec<usize> {
        let count = self.starts.len();
        let mut order = Vec::with_capacity(count);
        let all: Vec<usize> = (0..count).collect();
        let mut member = vec![0_u32; count];
        let mut stamp = 0;
        self.place(&all, 0, None, 0, &mut member, &mut stamp, &mut order);
        order
    }

    /// Places `blocks`, entered at `entry`, without edges to `head`.
    #[allow(clippy::too_many_arguments)]
    fn place(
        &self,
        blocks: &[usize],
        entry: usize,
        head: Option<usize>,
        depth: u32,
        member: &mut [u32],
        stamp: &mut u32,
        order: &mut Vec<usize>,
    ) {
        *stamp += 1;
        let own = *stamp;
        for &block in blocks {
            member[block] = own;
        }
        let components = self.components(blocks, entry, head, member, own);
        for component in components {
            if component.len() == 1 || depth == DEPTH {
                let mut component = component;
                component.sort_unstable();
                order.extend(component);
                continue;
            }
            // The block that is entered from before: the one that stands first among those with such an edge.
            let inside: std::collections::HashSet<usize> = component.iter().copied().collect();
            let entered = blocks
                .iter()
                .filter(|block| !inside.contains(block))
                .flat_map(|&block| &self.next[block])
                .filter(|block| inside.contains(block))
                .min()
                .copied();
            let first = if inside.contains(&entry) { Some(entry) } else { entered };
            let first = first.or_else(|| component.iter().min().copied()).unwrap_or(entry);
            order.push(first);
            let mut rest: Vec<usize> = component.into_iter().filter(|&block| block != first).collect();
            rest.sort_unstable();
            let start = self.next[first].iter().copied().find(|block| rest.contains(block)).unwrap_or(rest[0]);
            self.place(&rest, start, Some(first), depth + 1, member, stamp, order);
        }
    }

    /// Strongly connected components in topological order (Tarjan, without recursion).
    fn components(
        &self,
        blocks: &[usize],
        entry: usize,
        head: Option<usize>,
        member: &[u32],
        own: u32,
    ) -> Vec<Vec<usize>> {
        let count = self.starts.len();
        let mut index = vec![u32::MAX; count];
        let mut low = vec![0_u32; count];
        let mut on_stack = vec![false; count];
        let (mut stack, mut components, mut counter) = (Vec::new(), Vec::new(), 0);
        let roots = std::iter::once(entry).chain(blocks.iter().copied());
        for root in roots {
            if index[root] != u32::MAX || member[root] != own {
                continue;
            }
            // What can't be reached from the entry stands last.
            let first = components.len();
            let mut path = vec![(root, 0_usize)];
            while let Some(&mut (block, ref mut edge)) = path.last_mut() {
                if *edge == 0 {
                    index[block] = counter;
                    low[block] = counter;
                    counter += 1;
                    stack.push(block);
                    on_stack[block] = true;
                }
                // Successors that stand later in the text are visited first, so that they are placed later.
                let next = &self.next[block];
                let mut descended = false;
                while *edge < next.len() {
                    let target = next[next.len() - 1 - *edge];
                    *edge += 1;
                    if Some(target) == head || member[target] != own {
                        continue;
                    }
                    if index[target] == u32::MAX {
                        path.push((target, 0));
                        descended = true;
                        break;
                    }
                    if on_stack[target] {
                        low[block] = low[block].min(index[target]);
                    }
                }
                if descended {
                    continue;
                }
                // A block without successors is done at once; `edge` alone can't say that it was seen.
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[block]);
                }
                if low[block] == index[block] {
                    let mut component = Vec::new();
                    while let Some(last) = stack.pop() {
                        on_stack[last] = false;
                        component.push(last);
                        if last == block {
                            break;
                        }
                    }
                    components.push(component);
                }
            }
            components[first..].reverse();
        }
        components
    }
}
