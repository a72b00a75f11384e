//! What may be meant by a name that no policy has.

use crate::base::toml_check::nearest;

use super::catalog::Catalog;

impl Catalog {
    /// Says which policy may be meant by a name that none has, or where all are listed.
    pub(super) fn instead_of(&self, name: &str) -> String {
        let (agent, tool) = name.split_once('/').unwrap_or((name, ""));
        let agents = || self.names().filter_map(|name| name.split('/').next());
        let best = nearest(name, self.names()).filter(|_| !tool.is_empty());
        if let Some(best) =
            best.filter(|best| best.split('/').next() == Some(agent) || !agents().any(|known| known == agent))
        {
            return format!("did you mean {best}?");
        }
        let agent = agent.to_lowercase();
        let begun = || agents().find(|known| !agent.is_empty() && known.split('-').next() == Some(&agent));
        let meant = agents().find(|known| *known == agent).or_else(begun);
        if let Some(meant) = meant {
            return format!("the policies of {meant} are {}", self.current_names(meant));
        }
        let with_tool: Vec<&str> =
            self.names().filter(|known| known.split('/').nth(1) == Some(&agent)).collect();
        if !with_tool.is_empty() {
            return format!("name its agent, too: {}", with_tool.join(", "));
        }
        match nearest(&agent, agents()) {
            Some(near) => format!("the policies of {near} are {}", self.current_names(near)),
            None => "`overspill policies` lists them all".to_owned(),
        }
    }

    /// Returns the names of an agent's policies, without those of earlier forms if it has any others.
    fn current_names(&self, agent: &str) -> String {
        let is_today = |name: &&str| self.get(name).is_ok_and(|policy| self.is_current(&policy));
        let today: Vec<&str> = self.names_of(agent).filter(is_today).collect();
        if today.is_empty() { self.names_of(agent).collect() } else { today }.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_named_by_what_is_near() {
        let of = |name: &str| Catalog::builtin().get(name).unwrap_err().to_string();
        for (name, instead) in [
            ("opencode/outptu", "did you mean opencode/output?"),
            ("Claude-Code/Bash", "did you mean claude-code/bash?"),
            ("pi/bsh", "did you mean pi/bash?"),
            (
                "claude",
                "the policies of claude-code are claude-code/bash, claude-code/bash-failed, claude-code/tool",
            ),
            ("droid", "the policies of droid are droid/tool"),
            ("kimi-code/", "the policies of kimi-code are kimi-code/bash, kimi-code/tool"),
            (
                "pi/zzz",
                "the policies of pi are pi/bash, pi/codemode, pi/find, pi/grep, pi/ls, pi/mcp, pi/read",
            ),
            ("terminal", "name its agent, too: hermes/terminal, openhands-v0/terminal, openhands/terminal"),
            ("xyz/q", "`overspill policies` lists them all"),
        ] {
            assert_eq!(of(name), format!("no policy `{name}`; {instead}"));
        }
    }

    #[test]
    fn an_agent_alone_means_its_shell_tool_of_today() {
        let catalog = Catalog::builtin();
        let name = |agent: &str| catalog.get(agent).unwrap().name().to_owned();
        assert_eq!(
            ["claude-code", "gemini-cli", "pi"].map(name),
            ["claude-code/bash", "gemini-cli/output", "pi/bash"]
        );
        let flagged = catalog.names().filter(|name| catalog.get(name).unwrap().file.schema.shell);
        let mut agents: Vec<&str> = flagged.filter_map(|name| name.split('/').next()).collect();
        agents.sort_unstable();
        assert!(agents.is_sorted_by(|a, b| a < b), "an agent has one shell tool: {agents:?}");
    }
}
