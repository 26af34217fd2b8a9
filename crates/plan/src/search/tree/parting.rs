//! A path that becomes two, and is one again when the other is done (see `dpor/forest`).

use super::{Node, Path, Policy, State};

impl<N: Clone + Default, E: Clone> Path<N, E> {
    /// The node nearest to the beginning where a way waits that needs nothing of what is behind the node, if
    /// there is work behind it.
    pub(crate) fn where_to_part<P: Policy<Node = N, Child = E>>(&self) -> Option<usize> {
        let waits = |idx: &usize| {
            let node = &self.nodes[*idx];
            let mut children = (0..).zip(&node.children);
            children.any(|(child, it)| !it.state.has_counted() && P::is_free(node, child))
        };
        let has_work = |node: &Node<N, E>| node.children.iter().any(|it| it.state != State::Taken);
        let last = (self.floor..self.n_nodes).rfind(|it| has_work(&self.nodes[*it]))?;
        (self.floor..last).find(waits)
    }

    /// Is a part of it another path's?
    pub(crate) fn is_parted(&self) -> bool {
        let own = &self.nodes[self.floor.min(self.n_nodes)..self.n_nodes];
        own.iter().any(Node::is_parted)
    }

    /// Nodes before this one are another path's.
    pub(crate) fn floor(&self) -> usize {
        self.floor
    }

    /// Parts what lies behind a node from what is before it: this path ends at the node from now on, the one
    /// that is given back goes on behind it. `room`: a path that nobody needs any more.
    pub(crate) fn part(&mut self, node: usize, number: u64, room: Path<N, E>) -> Path<N, E> {
        let mut before = room;
        before.steps.clear();
        before.steps.extend_from_slice(&self.steps[..node]);
        before.n_nodes = 0;
        for of in &self.nodes[..=node] {
            before.push_node().clone_from(of);
        }
        (before.floor, before.memory) = (self.floor, self.memory);
        before.objects.clone_from(&self.objects);
        before.sites.clone_from(&self.sites);
        let mut behind = std::mem::replace(self, before);
        behind.floor = node + 1;
        let last = &mut self.nodes[node];
        let current = last.current.take().expect("bug: the path goes through the node");
        last.children[current].state = State::Away(number);
        behind
    }

    /// What another path has explored is done.
    pub(crate) fn close(&mut self, number: u64) {
        let mut all = self.nodes[..self.n_nodes].iter_mut().flat_map(|it| &mut it.children);
        let child = all.find(|it| it.state == State::Away(number));
        child.expect("bug: nobody waits for this path").state = State::Taken;
    }
}
