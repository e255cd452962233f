// The people who use one daemon: its owner, and users with a role for all projects or for some.

const ROLES = ["viewer", "member", "owner"];

/** @type {PeopleModule} */
export const people = {
	owner: { role: "owner", projects: [] },
	may({ role, projects }, needed, projectId) {
		const own = projects.find(({ repoId }) => repoId === projectId)?.role ?? role;
		return ROLES.indexOf(own) >= ROLES.indexOf(needed);
	},
	maySomewhere: (me, needed) => people.may(me, needed) || me.projects.some(({ repoId }) => people.may(me, needed, repoId)),
	// Alone with the daemon, its owner needs no name.
	who: ({ name }, by) => (by === name ? "" : (by ?? "the owner")),
	by(me, text, by) {
		const who = people.who(me, by);
		return who ? `${text} by ${who}` : text;
	},
};
